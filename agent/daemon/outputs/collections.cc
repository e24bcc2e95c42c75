#include "agent/daemon/outputs/collections.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/io/attempt/working_place.h"
#include "common/io/clock.h"

namespace lockstep::agent {
namespace {

constexpr int kCollectors = 4;  // collections that run at once
// the most collections that run or wait, each on a thread of its own
constexpr int kMostCollections = 256;
constexpr int kCapturers = 4;
constexpr int kTriesOnceSettled = 2;
// After a capture of folders of a running part, the next one waits for this multiple of the time
// that the capture took.
constexpr int kPauseFactor = 4;
constexpr Duration kLongestPause = seconds(9);
// How often the reason is repeated while a checkpoint cannot be saved.
constexpr Duration kSayAgainAfter = minutes(10);

}  // namespace

bool CancelToken::wait(Duration duration) {
  if (held_ != nullptr) held_->release();
  {
    std::unique_lock lock(mutex_);
    const bool settled = settles_;
    changed_.wait_for(lock, duration, [&] { return given_up_ || settles_ != settled; });
  }
  if (held_ != nullptr) held_->acquire();
  return !given_up_;
}

void CancelToken::give_up() { end_waits(given_up_); }
void CancelToken::settle() { end_waits(settles_); }

void CancelToken::end_waits(std::atomic<bool>& why) {
  {
    const std::lock_guard lock(mutex_);
    why = true;
  }
  changed_.notify_all();
}

Collections::Collections(io::EventLoop& loop, Workers& quick, AgentHome home,
                         OutputFunctions functions, Emit emit, Duration try_again_after)
    : loop_(loop),
      quick_(quick),
      home_(std::move(home)),
      functions_(std::move(functions)),
      emit_(std::move(emit)),
      try_again_after_(try_again_after),
      slots_(kCollectors),
      workers_(kMostCollections),
      capturers_(kCapturers) {}

Collections::~Collections() {
  *alive_ = false;
  for (auto& [attempt, cancel] : at_work_) cancel->give_up();
}

std::shared_ptr<Collections::Memory> Collections::memory_of(const AttemptId& attempt) {
  auto& memory = memories_[attempt];
  if (!memory) memory = std::make_shared<Memory>();
  return memory;
}

void Collections::start(const Assignment& assignment, std::vector<Instant> killed) {
  auto& cancel = at_work_[assignment.attempt];
  if (cancel) return;  // the collection is in progress
  cancel = std::make_shared<CancelToken>(&slots_);
  const Ended ended{assignment, std::move(killed), memory_of(assignment.attempt)};
  quick_.submit([this, ended, cancel = cancel] {
    if (!cancel->given_up()) look(ended, cancel);
  });
}

void Collections::capture_folders(const Assignment& assignment) {
  if (!functions_.capture_so_far) return;
  Folders& folders = folders_[assignment.attempt];
  if (folders.is_at_work || io::since_boot() < folders.pause_until) return;
  folders.is_at_work = true;
  capturers_.submit([this, alive = alive_, assignment, memory = memory_of(assignment.attempt),
                     directory = home_.attempt(assignment.attempt)] {
    const Duration began = io::since_boot();
    std::unique_lock held(memory->in_use);
    auto changed = functions_.capture_so_far(assignment, directory, memory->so_far);
    held.unlock();
    // A failed capture loses nothing: the folders are captured again soon, and at the end.
    if (!changed) spdlog::debug("{}", changed.error().message);
    const Duration ended = io::since_boot();
    const Duration pause = std::min<Duration>(kPauseFactor * (ended - began), kLongestPause);
    loop_.post([this, alive, attempt = assignment.attempt, until = ended + pause,
                changed = changed ? *std::move(changed) : std::vector<CollectedOutput>()] {
      if (!*alive) return;
      const auto found = folders_.find(attempt);
      if (found == folders_.end()) return;
      found->second.is_at_work = false;
      found->second.pause_until = until;
      for (const CollectedOutput& folder : changed) emit_(FolderCaptured{attempt, folder});
    });
  });
}

// Captures a checkpoint. Each request is answered, even a failed one, so that the core asks again.
void Collections::capture_checkpoint(const Assignment& assignment, bool insist) {
  capturers_.submit([this, alive = alive_, assignment, insist,
                     memory = memory_of(assignment.attempt),
                     directory = home_.attempt(assignment.attempt)] {
    CheckpointCaptured answer{assignment.attempt};
    if (functions_.capture_checkpoint) {
      std::unique_lock held(memory->in_checkpoint);
      auto captured =
          functions_.capture_checkpoint(assignment, directory, memory->checkpoint, insist);
      const std::string why = captured ? "" : captured.error().message;
      const bool is_said = why == memory->checkpoint_failure &&
                           io::since_boot() - memory->checkpoint_failed < kSayAgainAfter;
      if (!is_said) memory->checkpoint_failed = io::since_boot();
      memory->checkpoint_failure = why;
      held.unlock();
      if (!why.empty() && !is_said)
        spdlog::warn("cannot save the checkpoint of {}: {}", to_string(assignment.attempt), why);
      if (captured) answer.checkpoint = std::move(captured->checkpoint);
      answer.busy = captured && captured->busy;
    }
    loop_.post([this, alive, answer = std::move(answer)] {
      if (*alive && memories_.count(answer.attempt) != 0) emit_(answer);
    });
  });
}

void Collections::settle(const AttemptId& attempt) {
  const auto found = at_work_.find(attempt);
  if (found != at_work_.end()) found->second->settle();
}

void Collections::forget(const AttemptId& attempt) {
  memories_.erase(attempt);
  folders_.erase(attempt);
  const auto found = at_work_.find(attempt);
  if (found == at_work_.end()) return;
  found->second->give_up();
  at_work_.erase(found);
}

void Collections::look(const Ended& ended, const std::shared_ptr<CancelToken>& cancel) {
  const AttemptId& attempt = ended.assignment.attempt;
  if (const Status back = io::bring_back(home_.attempt(attempt)); !back)
    spdlog::error("{}", back.error().message);
  if (!functions_.collect || !functions_.is_anything_left(ended.assignment, home_.attempt(attempt)))
    return say(cancel, OutputsCollected{attempt, {}});
  workers_.submit([this, ended, cancel] {
    std::unique_lock so_far(ended.memory->in_use, std::defer_lock);
    std::unique_lock checkpoint(ended.memory->in_checkpoint, std::defer_lock);
    // Killed ranks may have left torn files. The captures before them are needed to find those, and
    // the last captures may still be running.
    if (!ended.killed.empty()) std::lock(so_far, checkpoint);
    slots_.acquire();
    if (!cancel->given_up()) collect(ended, cancel);
    slots_.release();
  });
}

// Collects until it succeeds or is canceled. A failure may pass, such as an unreachable user
// directory or launcher. The ranks' files are removed afterwards.
void Collections::collect(const Ended& ended, const std::shared_ptr<CancelToken>& cancel) {
  const AttemptId& attempt = ended.assignment.attempt;
  const Interrupted interrupted{ended.killed, &ended.memory->so_far, &ended.memory->checkpoint};
  std::string why;  // why the last try failed; it is reported with each step of the next try, too
  const auto tell = [&](const std::string& text) {
    say(cancel, OutputsProgress{attempt, text, cancel->no_space() || !why.empty()});
  };
  for (int tries_left = kTriesOnceSettled;;) {
    auto collected =
        functions_.collect(ended.assignment, home_.attempt(attempt), interrupted, tell, *cancel);
    if (cancel->given_up()) return;
    if (collected)
      return say(cancel, OutputsCollected{attempt, std::move(collected->outputs),
                                          std::move(collected->not_kept)});
    const std::string& failed = collected.error().message;
    if (why != failed)
      spdlog::error("cannot collect the outputs of {}: {}", to_string(attempt), failed);
    why = failed;
    if (cancel->settles() && --tries_left < 0) break;
    tell("cannot collect its outputs yet, and tries again: " + why);
    if (!cancel->wait(try_again_after_)) return;
  }
  CollectedOutput lost;
  lost.problems.push_back(why);
  say(cancel, OutputsCollected{attempt, {std::move(lost)}});
}

// Workers end before this object does. An input that they posted may run after it is gone, and is
// dropped then.
void Collections::say(const std::shared_ptr<CancelToken>& cancel, Input input) {
  loop_.post([this, cancel, input = std::move(input)] {
    if (cancel->given_up()) return;
    if (const auto* done = std::get_if<OutputsCollected>(&input)) at_work_.erase(done->attempt);
    emit_(input);
  });
}

}  // namespace lockstep::agent
