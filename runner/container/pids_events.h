#pragma once
// Reads how often the kernel refused a new process in a container, from the container's cgroup,
// which is found by one of its processes.

#include <optional>
#include <string>
#include <utility>

namespace lockstep::runner {

class PidsEvents {
 public:
  // `pid`: of a process in the container, as we see it. nullopt: its cgroup is out of our sight.
  static std::optional<PidsEvents> of(int pid);
  long long refused() const;

 private:
  explicit PidsEvents(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;
};

}  // namespace lockstep::runner
