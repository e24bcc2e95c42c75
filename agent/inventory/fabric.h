#pragma once
// The fabric of this node: its interfaces, RDMA ports and GPUs, where they are, and which libraries
// are there. It runs nothing and loads no library but NVML.

#include <string>
#include <vector>

#include "agent/inventory/links.h"
#include "common/domain/targets/fabric.h"
#include "common/domain/targets/node.h"

namespace lockstep::agent {

// The paths of the kernel's trees, or of fakes.
struct FabricPlaces {
  std::string sys = "/sys", proc = "/proc", dev = "/dev";
  std::string root = {};  // put before the paths of libraries
};

// Reads everything except GPUs and the limit of locked memory. `links`: the result of read_links().
NodeFabric read_fabric(const FabricPlaces& places, const std::vector<NetworkLink>& links);

// The network devices of this machine. `gpus`: the GPUs that the node offers.
NodeFabric probe_fabric(const std::vector<GpuDevice>& gpus);

// The same fabric with its present interfaces and RDMA ports, which change while a machine runs.
NodeFabric with_network_now(NodeFabric fabric);

// The hard limit of this process, which ranks inherit; -1: none, or root may lift it.
std::int64_t memlock_limit();

}  // namespace lockstep::agent
