#pragma once
// The ports of InfiniBand and RoCE devices, from /sys/class/infiniband.

#include <string>
#include <vector>

#include "common/domain/targets/node.h"

namespace lockstep::agent {

// The RDMA ports by device and port; at most kMaxRdmaPorts. `sys`: /sys, or a fake of it
// (class/infiniband/DEVICE/ports/N/…).
std::vector<RdmaPort> probe_rdma(const std::string& sys = "/sys");

}  // namespace lockstep::agent
