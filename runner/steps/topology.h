#pragma once
// The machine's NUMA nodes and cores, as hwloc sees them. Loading takes tens of milliseconds, so
// only bindings that need it do so.

#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::runner {

class Topology {
 public:
  enum class Level { numa_node, core };

  // Loads the topology. `synthetic`: instead of this machine, such as "numa:2 core:4 pu:2"
  // (hwloc(7)).
  static Result<Topology> load(const std::string& synthetic = "");

  // Groups `cpus` by their NUMA node or core, without empty groups. A cpu that hwloc does not know
  // is left out.
  std::vector<std::vector<int>> group(const std::vector<int>& cpus, Level level) const;

 private:
  struct Free {
    void operator()(void* topology) const;
  };
  explicit Topology(void* topology) : topology_(topology) {}

  std::unique_ptr<void, Free> topology_;  // hwloc_topology_t, whose header stays out of this one
};

}  // namespace lockstep::runner
