#include "runner/steps/topology.h"

#include <hwloc.h>

#include <cstdlib>

namespace lockstep::runner {
namespace {

Error failed(const std::string& what) {
  return make_error(ErrorCode::io, "hwloc cannot read this machine's topology: " + what);
}

}  // namespace

void Topology::Free::operator()(void* topology) const {
  hwloc_topology_destroy(static_cast<hwloc_topology_t>(topology));
}

Result<Topology> Topology::load(const std::string& synthetic) {
  // Disables hwloc's plugins, which would load OpenCL, CUDA and X11 into this process.
  setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return failed("init");
  Topology topology(made);
  if (!synthetic.empty() && hwloc_topology_set_synthetic(made, synthetic.c_str()) != 0)
    return failed("'" + synthetic + "' is not understood");
  if (hwloc_topology_load(made) != 0) return failed("load");
  return topology;
}

std::vector<std::vector<int>> Topology::group(const std::vector<int>& cpus, Level level) const {
  const auto topology = static_cast<hwloc_topology_t>(topology_.get());
  const hwloc_obj_type_t type = level == Level::core ? HWLOC_OBJ_CORE : HWLOC_OBJ_NUMANODE;
  std::vector<std::vector<int>> groups;
  for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology, type, nullptr); object != nullptr;
       object = hwloc_get_next_obj_by_type(topology, type, object)) {
    std::vector<int> group;
    for (const int cpu : cpus)
      if (hwloc_bitmap_isset(object->cpuset, static_cast<unsigned>(cpu)) != 0) group.push_back(cpu);
    if (!group.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace lockstep::runner
