#pragma once
// Counts how often the kernel refused a container's processes a new process or thread, by the
// counter of its cgroup. The cgroup is found through one of its processes.

#include <optional>
#include <string>
#include <utility>

namespace lockstep::runner {

class PidsEvents {
 public:
  // Finds the events. `pid`: of a process in the container, in our pid namespace. nullopt: its
  // cgroup is not visible.
  static std::optional<PidsEvents> of(int pid);
  long long refused() const;

 private:
  explicit PidsEvents(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;
};

}  // namespace lockstep::runner
