#pragma once
// One attempt that waits for its environment: what it wants now, whether it still waits, and its
// environment log. From any thread.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "common/domain/assignment.h"
#include "common/io/attempt_dir.h"

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

  // Appends to its log. A file that cannot be written to does not fail the environment.
  void log(std::string_view bytes);
  // Logs a line of Lockstep's own, unless it repeats the last one.
  void say(const std::string& line);
  std::uint64_t log_bytes() const;

  // The lock that this node solved for it; kept so that it is not solved again before the
  // launcher's plan has it.
  std::optional<EnvironmentReport> solved() const;
  void record_solved(const EnvironmentReport& report);

  // The failed solve; not tried here again while another node may solve it.
  std::optional<EnvironmentReport> not_solved() const;
  void record_not_solved(const EnvironmentReport& report);

  std::mutex looking;            // one look at what is wanted at a time
  std::shared_ptr<Build> build;  // that it waits for; guarded by Environments

 private:
  std::string log_path() const;

  const io::AttemptDir directory_;
  mutable std::mutex mutex_;
  Assignment wanted_;  // guarded by mutex_, as is all below
  std::string last_line_;
  std::optional<EnvironmentReport> solved_, not_solved_;
  std::atomic<bool> left_ = false;
};

}  // namespace lockstep::agent
