#pragma once
// The folder `compute` of the launcher's home over time: a provider's files for a target go with
// the target. Logs of deleted targets stay readable for a while: the newest kKeptLogs.

#include <cstdint>
#include <functional>
#include <string>

#include "launcher/daemon/work/worker.h"
#include "launcher/home/layout.h"

namespace lockstep::launcher {

class ComputeFolders {
 public:
  static constexpr std::size_t kKeptLogs = 20;
  // True if there is a target of this name.
  using Exists = std::function<bool(const std::string& target)>;

  // Both outlive this object. Removing takes time, so a thread of its own does it.
  ComputeFolders(const LauncherHome& home, Exists exists)
      : home_(home), exists_(std::move(exists)) {}

  // Called at the start: removes everything that belongs to no target, such as files that a crash
  // left.
  void clean();
  // Called when the target is deleted.
  void forget(const std::string& target);
  // Removes a directory. Its path is free at once.
  void remove(const std::string& path);

 private:
  void remove_old_logs();

  const LauncherHome& home_;
  const Exists exists_;
  std::uint64_t last_ = 0;  // the number of the last folder that was renamed to be removed
  Worker worker_;
};

}  // namespace lockstep::launcher
