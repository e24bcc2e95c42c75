#pragma once
// An attempt that waits for its environment: its newest assignment, whether it still waits, and its
// environment log. Its functions may be called from any thread.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "common/domain/runners/assignment.h"
#include "common/io/attempt/attempt_dir.h"

namespace lockstep::agent {

class Build;

class BuildSubscriber {
 public:
  BuildSubscriber(const Assignment& assignment, io::AttemptDir directory)
      : directory_(std::move(directory)), wanted_(assignment) {}

  const io::AttemptDir& directory() const { return directory_; }
  Assignment wanted() const;
  void want(const Assignment& assignment);
  bool has_left() const { return left_; }
  void leave() { left_ = true; }

  // Appends to the attempt's environment log, which may exist already. A write error is ignored: it
  // must not fail the environment.
  void log(std::string_view bytes);
  // Appends a line of the agent; a line equal to the last one is dropped.
  void say(const std::string& line);
  std::uint64_t log_bytes() const;

  // The lock that this node solved for the attempt. It is not solved again before the launcher
  // orders a new generation.
  std::optional<EnvironmentReport> solved() const;
  void record_solved(const EnvironmentReport& report);

  // The solve that failed on this node: it is not tried again here while other nodes may solve it.
  std::optional<EnvironmentReport> not_solved() const;
  void record_not_solved(const EnvironmentReport& report);

  std::mutex looking;            // the lock that Environments::look holds
  std::shared_ptr<Build> build;  // the one it waits for; guarded by the mutex of Environments

 private:
  std::string log_path() const;

  const io::AttemptDir directory_;
  mutable std::mutex mutex_;
  Assignment wanted_;  // guarded by mutex_, as are the members below
  std::string last_line_;
  std::optional<EnvironmentReport> solved_, not_solved_;
  std::atomic<bool> left_ = false;
};

}  // namespace lockstep::agent
