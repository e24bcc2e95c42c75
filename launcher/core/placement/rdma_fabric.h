#pragma once
// RDMA fabrics: the ports of two nodes reach each other only within one subnet and one partition.
// Part of placement; pure.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/targets/node.h"
#include "common/domain/why/why.h"

namespace lockstep::launcher {

// The fabrics that the node's active ports are in: "InfiniBand fe80:0000:0000:0000 0x0001". Limited
// members of a partition do not reach each other, so only full membership counts, except in the
// default partition of Azure, where all machines are limited members.
std::vector<std::string> fabrics_of(const Inventory& inventory);
bool has_active_port(const Inventory& inventory);

// The fabric that all of these nodes are in and can use: InfiniBand before RoCE, the default
// partition before others. If there is none, the result is not shared.
GangFabric shared_fabric(const std::vector<const Inventory*>& nodes);

// Why the node cannot use RDMA, as one of several nodes or (`alone`) as a single node that must
// have it; none: it can.
Why why_no_rdma(const Inventory& inventory, bool alone);

}  // namespace lockstep::launcher
