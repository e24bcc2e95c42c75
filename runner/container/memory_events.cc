#include "runner/container/memory_events.h"

#include <fmt/format.h>

#include <utility>

#include "common/io/cgroups/cgroup_layout.h"
#include "common/io/cgroups/cgroups.h"
#include "common/io/file_system.h"

namespace lockstep::runner {

// Finds the events. If v1 controls memory, a v2 mount beside it does not.
std::optional<MemoryEvents> MemoryEvents::of(int pid) {
  std::optional<MemoryEvents> found;
  for (const io::CgroupHierarchy& hierarchy : io::find_cgroup_hierarchies(
           io::read_file("/proc/self/mountinfo").value_or(""),
           io::read_file(fmt::format("/proc/{}/cgroup", pid)).value_or(""))) {
    const bool is_v1 = hierarchy.version == 1 && hierarchy.controllers.count("memory") != 0;
    const bool is_v2 = hierarchy.version == 2 && io::exists(hierarchy.own + "/memory.events");
    if ((is_v1 && io::exists(hierarchy.own)) || (is_v2 && !found))
      found = MemoryEvents(hierarchy.own, hierarchy.version);
  }
  if (found) (void)found->has_grown();
  return found;
}

bool MemoryEvents::has_grown() {
  const long long now = io::oom_kills(directory_, version_);
  return std::exchange(seen_, now) < now;
}

}  // namespace lockstep::runner
