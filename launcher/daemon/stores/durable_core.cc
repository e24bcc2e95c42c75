#include "launcher/daemon/stores/durable_core.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace lockstep::launcher {

Result<std::unique_ptr<DurableCore>> DurableCore::recover(io::EventLoop& loop,
                                                          const std::string& journal_path,
                                                          const CoreConfig& config,
                                                          const std::string& sign,
                                                          FactFollower* follower) {
  TRY_ASSIGN(auto journal, Journal::open(journal_path, sign));
  Core core(config);
  Instant last;
  TRY(journal.replay_placed([&](const StampedFact& fact, const JournalPosition& at) {
    core.replay(fact);
    last = std::max(last, fact.at);
    if (follower != nullptr) follower->replayed(fact, at, core.state());
  }));
  if (follower != nullptr) follower->end_replay(journal.position());
  return std::unique_ptr<DurableCore>(
      new DurableCore(loop, std::move(core), std::move(journal), last, follower));
}

DurableCore::DurableCore(io::EventLoop& loop, Core core, Journal journal, Instant not_before,
                         FactFollower* follower)
    : loop_(loop),
      core_(std::move(core)),
      journal_(std::move(journal)),
      clock_(not_before),
      started_(clock_.now()),
      turns_({[this] { return clock_.now(); },
              [this](Instant now, const Input& input, bool more) {
                return core_.handle(now, input, more);
              },
              [this](Instant now, const HeartbeatInput& input) { return core_.hear(now, input); },
              [this] { return core_.next_deadline(); },
              [this](std::vector<StampedFact> facts) { write_ahead(std::move(facts)); }}),
      follower_(follower) {
  core_.recovered(started_);
  turns_.resume(core_.resume());
  count_rows();
}

void DurableCore::count_rows() {
  rows_ = journal_.last_sequence();
  kept_ = journal_.kept_by_compaction();
}

void DurableCore::tick() {
  turns_.tick();
  const Duration slow = writes().slow_for;
  if (slow == Duration(0) || told_) return;
  told_ = true;
  spdlog::warn(
      "the disk is slow: a write of the journal has taken {} so far; requests wait for it, and "
      "running jobs go on",
      format_duration(slow));
}

Duration DurableCore::wait() {
  if (broken_) return Duration::zero();
  const Duration due = turns_.wait();
  if (!is_writing() || told_) return due;
  return std::min(due, std::max(began_ + kSlowWrite - now(), Duration::zero()));
}

Result<std::vector<Action>> DurableCore::end_turn() {
  if (broken_) return *broken_;
  Turns::Turn turn = turns_.end();
  if (turn.writes) write_turn(std::move(turn.facts));
  return std::move(turn.actions);
}

void DurableCore::adopt(const CompactedJournal& compacted, std::function<void(Status)> then) {
  turns_.when_durable([this, compacted, then = std::move(then)] {
    turns_.stand_still();
    write([this, compacted] { return journal_.replace_with(compacted); },
          [this, then](Status done) {
            if (done && follower_ != nullptr) follower_->compacted(journal_.position());
            then(std::move(done));
          });
  });
}

// ---- the writer ---------------------------------------------------------------------------------

// The thread starts with the first write, when the loop's thread has blocked its signals.
Worker& DurableCore::writer() {
  if (!writer_) writer_.emplace();
  return *writer_;
}

void DurableCore::write_ahead(std::vector<StampedFact> facts) {
  writer().run([this, facts = note(std::move(facts))] {
    if (ahead_) ahead_ = journal_.stage(*facts);
  });
}

std::shared_ptr<const std::vector<StampedFact>> DurableCore::note(std::vector<StampedFact> facts) {
  auto noted = std::make_shared<const std::vector<StampedFact>>(std::move(facts));
  if (follower_ != nullptr) turn_.push_back(noted);
  return noted;
}

// The core stands still until the facts are durable, so its state is the one after them then.
void DurableCore::write_turn(std::vector<StampedFact> facts) {
  write([this, facts = note(std::move(facts))] { return append(*facts); },
        [this](const Status& done) {
          const FactsOfTurn turn = std::exchange(turn_, {});
          if (done && follower_ != nullptr)
            follower_->durable(turn, journal_.position(), core_.state());
        });
}

// Runs on the writer's thread.
Status DurableCore::append(const std::vector<StampedFact>& facts) {
  TRY(ahead_);
  return journal_.append(facts);
}

void DurableCore::write(std::function<Status()> work, std::function<void(Status)> then) {
  began_ = now();
  told_ = false;
  writer().run([this, work = std::move(work), then = std::move(then)] {
    const Status done = work();
    loop_.post([this, done, then] { written(done, then); });
  });
}

// An adoption that is refused now has changed nothing; appends never end like this.
void DurableCore::written(Status done, const std::function<void(Status)>& then) {
  const Duration took = now() - began_;
  if (took >= kSlowWrite) {
    slow_.last_slow = took;
    slow_.last_slow_ended = now();
    spdlog::warn("the disk took {} to write the journal", format_duration(took));
  }
  if (!done && done.error().code != ErrorCode::unavailable) broken_ = done.error();
  if (!broken_) count_rows();
  turns_.written();
  then(std::move(done));
}

DiskWrites DurableCore::writes() {
  DiskWrites writes = slow_;
  const Duration so_far = is_writing() ? now() - began_ : Duration(0);
  writes.slow_for = so_far >= kSlowWrite ? so_far : Duration(0);
  return writes;
}

}  // namespace lockstep::launcher
