#pragma once
// The RDMA ports of this node in full, from /sys/class/infiniband: state, GIDs with their types,
// partitions, firmware, and where their devices are. probe_rdma() of rdma.h is the short form, by
// which the launcher places jobs.

#include <string>
#include <vector>

#include "common/domain/targets/fabric.h"

namespace lockstep::agent {

// The RDMA ports by device and port, numbers in names by their value ("mlx5_10" behind "mlx5_9");
// at most kMaxFabricPorts. `sys`: /sys, or a fake of it.
std::vector<FabricPort> probe_fabric_ports(const std::string& sys = "/sys");

}  // namespace lockstep::agent
