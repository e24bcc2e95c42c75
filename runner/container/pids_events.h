#pragma once
// How often the kernel refuses the processes of a container another one: its cgroup counts. Found
// by a process of it.

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
