#pragma once
// Tells whether the kernel killed processes of a container for lack of memory, by the counter of
// its cgroup. The cgroup is found through one of its processes.

#include <optional>
#include <string>

namespace lockstep::runner {

class MemoryEvents {
 public:
  // Finds the events. `pid`: of a process in the container, in our pid namespace. nullopt: its
  // cgroup is not visible.
  static std::optional<MemoryEvents> of(int pid);
  // Whether a process was killed since the last call.
  bool has_grown();

 private:
  MemoryEvents(std::string directory, int version)
      : directory_(std::move(directory)), version_(version) {}

  std::string directory_;
  int version_;
  long long seen_ = 0;
};

}  // namespace lockstep::runner
