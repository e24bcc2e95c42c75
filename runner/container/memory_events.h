#pragma once
// Reads how often the kernel killed a process of a container for memory, from the container's
// cgroup, which is found by one of its processes.

#include <optional>
#include <string>

namespace lockstep::runner {

class MemoryEvents {
 public:
  // `pid`: of a process in the container, as we see it. nullopt: its cgroup is out of our sight.
  static std::optional<MemoryEvents> of(int pid);
  // Something was killed since this was asked last.
  bool has_grown();

 private:
  MemoryEvents(std::string directory, int version)
      : directory_(std::move(directory)), version_(version) {}

  std::string directory_;
  int version_;
  long long seen_ = 0;
};

}  // namespace lockstep::runner
