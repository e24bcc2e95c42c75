#include "runner/container/pids_events.h"

#include <fmt/format.h>

#include "common/io/cgroups/cgroup_layout.h"
#include "common/io/cgroups/cgroups.h"
#include "common/io/file_system.h"

namespace lockstep::runner {

std::optional<PidsEvents> PidsEvents::of(int pid) {
  for (const io::CgroupHierarchy& hierarchy :
       io::find_cgroup_hierarchies(io::read_file("/proc/self/mountinfo").value_or(""),
                                   io::read_file(fmt::format("/proc/{}/cgroup", pid)).value_or("")))
    if (io::exists(hierarchy.own + "/pids.events")) return PidsEvents(hierarchy.own);
  return std::nullopt;
}

long long PidsEvents::refused() const { return io::refused_forks(directory_); }

}  // namespace lockstep::runner
