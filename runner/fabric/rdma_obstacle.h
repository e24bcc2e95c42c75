#pragma once
// Why the ranks of this node could not use RDMA, found before they start from the node's fabric and
// the job's variables. The launcher placed the job by the node's ports
// (launcher/core/placement/rdma_fabric.h); this also checks what the launcher cannot know: device
// files, locked memory, GIDs, and the job's variables. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/domain/targets/fabric.h"
#include "common/domain/why/ranks/rdma.h"

namespace lockstep::runner {

// Whether the job itself causes it, so that another node, or this one later, would not help.
bool is_of_job(const RdmaIsLacking& obstacle);
// Whether no library can use RDMA here. Despite other obstacles a library may, in part or by other
// settings.
bool leaves_tcp_alone(const RdmaIsLacking& obstacle);

struct RdmaRequest {
  bool alone = false;         // the job has one node, which only needs an active port
  bool may_lock_all = false;  // ranks are root, or root sets their limit; or it is not known
  std::map<std::string, std::string> variables;  // the variables of the job and its environment
};

// Finds an obstacle; nullopt: nothing prevents RDMA.
std::optional<RdmaIsLacking> rdma_obstacle(const NodeFabric& fabric, const RdmaRequest& request);

// Libraries lock some MiB for each connection; with less than this, RDMA fails sooner or later.
inline constexpr std::int64_t kLeastLockedMemory = 64 << 20;

}  // namespace lockstep::runner
