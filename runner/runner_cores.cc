// Core files of ranks that a signal ended. They are read before the rest of the ranks' processes
// are killed, because that would also end the reader.

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "runner/runner.h"

namespace lockstep::runner {
namespace {

constexpr char kCorePattern[] = "/proc/sys/kernel/core_pattern";
constexpr char kCoreUsesPid[] = "/proc/sys/kernel/core_uses_pid";

}  // namespace

void Runner::open_to_cores(const std::string& tools) {
  const CoreFile wanted = orders_.assignment.spec.core;
  if (wanted == CoreFile::off) return;
  CoreFiles::Callbacks callbacks;
  callbacks.start = [this](int id, const spawn::RankProcess& process,
                           const Stdio& stdio) -> Status {
    spawn::Client* const spawn = spawner_is_lost() ? nullptr : setup_.isolation.spawn.get();
    if (spawn == nullptr) return make_error(ErrorCode::unavailable, "lockstep-spawn is gone");
    return spawn->start(id, process, stdio.theirs[0].get(), stdio.theirs[1].get(),
                        stdio.theirs[2].get(), -1, spawn::kKept);
  };
  callbacks.kill = [this](int id) {
    if (setup_.isolation.spawn && !spawner_is_lost()) setup_.isolation.spawn->end(id);
  };
  callbacks.rank = [this](int rank) -> const spawn::RankProcess* {
    const auto found = ranks_here_.find(rank);
    return found == ranks_here_.end() ? nullptr : &found->second.process;
  };
  CorePlace place =
      core_place(io::read_file(kCorePattern).value_or(""),
                 io::read_file(kCoreUsesPid).value_or("0"), orders_.container() != nullptr);
  cores_ = std::make_unique<CoreFiles>(loop_, std::move(callbacks), std::move(place),
                                       wanted == CoreFile::keep, tools,
                                       io::wall_clock().ns / 1'000'000'000);
}

// True: the rest is killed later, because core files are read. While a rank runs, the rest is
// killed at once.
bool Runner::waits_for_cores() {
  if (!reads_cores()) return false;
  const bool any_lives = std::any_of(ranks_here_.begin(), ranks_here_.end(),
                                     [](const auto& entry) { return entry.second.lives; });
  if (any_lives) {
    cores_->give_up();
    return false;
  }
  kill_after_cores_ = true;
  return true;
}

void Runner::look_at_cores() {
  if (!cores_) return;
  cores_->expire(clock_.now());
  if (!kill_after_cores_ || reads_cores()) return;
  kill_after_cores_ = false;
  perform(KillEverything{});
}

void Runner::tell_cores() {
  if (!cores_) return;
  for (const auto& [rank, result] : cores_->results()) {
    if (result.note && final_report_->notes.size() < kMaxNoteLines)
      final_report_->notes.push_back(result.note);
    for (RankExit& exit : final_report_->ranks) {
      if (exit.rank != rank) continue;
      exit.backtrace = result.backtrace;
      if (!exit.why) exit.why = result.place;
    }
  }
}

}  // namespace lockstep::runner
