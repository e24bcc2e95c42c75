#include "launcher/daemon/stores/archiver.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace lockstep::launcher {

Archiver::Archiver(io::EventLoop& loop, std::string journal, std::string archive)
    : loop_(loop),
      journal_(std::move(journal)),
      path_(std::move(archive)),
      follower_(std::nullopt, archive::Fold()) {
  if (const Status opened = open()) {
    follower_ = archive::Follower(writer_->mark(), archive::Fold());
  } else if (opened.error().code == ErrorCode::unsupported) {
    is_off_ = true;
    spdlog::error("jobs that end are not archived: {}", opened.error().message);
  } else {
    why_rebuild_ = opened.error().message;
  }
}

Status Archiver::open() {
  TRY_ASSIGN(writer_, archive::Writer::open(path_));
  return {};
}

archive::SubmittedAs Archiver::submitted(const StampedFact& fact, const State& state) {
  const auto* submitted = std::get_if<JobSubmitted>(&fact.fact);
  return submitted == nullptr ? archive::SubmittedAs()
                              : archive::submitted_as(state, submitted->job);
}

// ---- what it sees -------------------------------------------------------------------------------

void Archiver::replayed(const StampedFact& fact, const JournalPosition& at, const State& state) {
  if (!is_off_ && !why_rebuild_) follower_.see(fact, submitted(fact, state), at);
}

void Archiver::end_replay(const JournalPosition& end) {
  if (!is_off_ && !why_rebuild_) why_rebuild_ = follower_.end_replay(end);
}

void Archiver::durable(const FactsOfTurn& facts, const JournalPosition& end, const State& state) {
  if (is_off_) return;
  if (why_rebuild_) {
    // One that has not begun will read them in the journal.
    if (is_at_work_) keep_for_later(facts, end, state);
    return;
  }
  for (const auto& some : facts)
    for (const StampedFact& fact : *some) follower_.see(fact, submitted(fact, state), end);
  if (follower_.waiting() > archive::kMaxReplayedChanges) why_rebuild_ = "it lacked too much";
}

void Archiver::keep_for_later(const FactsOfTurn& facts, const JournalPosition& end,
                              const State& state) {
  if (is_backlog_lost_) return;
  for (const auto& some : facts)
    for (const StampedFact& fact : *some) backlog_.push_back({fact, submitted(fact, state), end});
  if (backlog_.size() <= kMaxArchiverBacklog) return;
  is_backlog_lost_ = true;
  backlog_.clear();
}

void Archiver::compacted(const JournalPosition& end) {
  if (!is_off_ && !why_rebuild_) follower_.compacted(end);
}

void Archiver::catch_up(std::function<void(Status)> then) {
  if (is_off_) return then({});
  catching_up_.push_back(std::move(then));
  turn_end();
}

// ---- what it does -------------------------------------------------------------------------------

void Archiver::turn_end() {
  if (is_off_ || is_at_work_ || (retry_at_ && Clock::now() < *retry_at_)) return;
  retry_at_.reset();
  if (why_rebuild_) {
    if (!is_held_) rebuild();
    return;
  }
  if (!batch_) batch_ = follower_.take();
  if (batch_ || !catching_up_.empty()) write();
}

Duration Archiver::wait() const {
  if (is_off_ || is_at_work_ || !retry_at_) return Duration::max();
  return std::max(std::chrono::duration_cast<Duration>(*retry_at_ - Clock::now()),
                  Duration::zero());
}

// Its thread starts with the first work, when the loop's thread has blocked its signals.
void Archiver::write() {
  if (!worker_) worker_.emplace();
  is_at_work_ = true;
  syncing_ = std::exchange(catching_up_, {});
  worker_->run([this, syncs = !syncing_.empty()] {
    Status done = batch_ ? writer_->apply(batch_->changes, batch_->mark) : Status();
    if (done && syncs) done = writer_->sync();
    loop_.post([this, done] { wrote(done); });
  });
}

void Archiver::wrote(const Status& done) {
  is_at_work_ = false;
  if (done) {
    batch_.reset();
    if (!syncing_.empty()) is_held_ = true;
  } else if (done.error().code == ErrorCode::corrupt) {
    batch_.reset();
    why_rebuild_ = done.error().message;
  } else {
    retry_later();
    spdlog::warn("jobs that ended are archived later: {}", done.error().message);
  }
  for (const Then& then : std::exchange(syncing_, {})) then(done);
}

void Archiver::rebuild() {
  if (!worker_) worker_.emplace();
  is_at_work_ = true;
  is_backlog_lost_ = false;
  spdlog::info("making the archive of ended jobs anew of the journal: {}", *why_rebuild_);
  worker_->run([this] {
    writer_.reset();
    auto result = archive::rebuild(journal_, path_);
    if (result)
      if (const Status opened = open(); !opened) result = opened.error();
    loop_.post([this, shared = std::make_shared<Result<archive::Rebuilt>>(std::move(result))] {
      rebuilt(std::move(*shared));
    });
  });
}

void Archiver::rebuilt(Result<archive::Rebuilt> result) {
  is_at_work_ = false;
  const auto backlog = std::exchange(backlog_, {});
  if (!result) {
    retry_later();
    spdlog::warn("the archive of ended jobs was not made: {}", result.error().message);
    for (const Then& then : std::exchange(catching_up_, {})) then(result.error());
    return;
  }
  if (is_backlog_lost_) return;  // another one follows
  why_rebuild_.reset();
  follower_ = archive::Follower::after_rebuild(result->position, std::move(result->fold));
  for (const Seen& seen : backlog) follower_.see(seen.fact, seen.as, seen.at);
  spdlog::info("the archive of ended jobs was made of {} facts", result->position.facts);
}

}  // namespace lockstep::launcher
