#pragma once
// Why the ranks of this node could not use RDMA, seen before they start: from the node's fabric and
// the job's variables. The launcher placed the job by the node's ports (launcher/core/fabric.h);
// this looks again, at what it cannot know: device files, locked memory, GIDs, the job's words.
// Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/domain/fabric.h"

namespace lockstep::runner {

struct RdmaObstacle {
  enum class Kind {
    no_port,
    no_active_port,
    no_partition,  // no active port is a full member of one
    no_gid,        // all active ports are of RoCE, and none has one of an IP address
    no_device_files,
    locked_memory,
    // The job's own words:
    wrong_gid,   // a GID index that no active port has
    wrong_pkey,  // a partition that no active port is in
  };
  Kind kind = Kind::no_port;
  std::string detail = {};  // "mlx5_0:1 is DOWN", "NCCL_IB_GID_INDEX=7"
  std::int64_t bytes = 0;   // locked_memory: the limit
  // Another node, or the same one later, changes nothing.
  bool is_of_job() const { return kind == Kind::wrong_gid || kind == Kind::wrong_pkey; }
  // No library can use RDMA here. With the others one may, in part or by other settings.
  bool leaves_tcp_alone() const {
    return kind == Kind::no_port || kind == Kind::no_active_port || kind == Kind::no_device_files;
  }
  friend bool operator==(const RdmaObstacle&, const RdmaObstacle&) = default;
};

struct RdmaRequest {
  bool alone = false;         // the job has one node, which only needs an active port
  bool may_lock_all = false;  // ranks are root, or root sets their limit; or it is not known
  std::map<std::string, std::string> variables;  // of the job and its environment
};

// nullopt: there is none.
std::optional<RdmaObstacle> rdma_obstacle(const NodeFabric& fabric, const RdmaRequest& request);

// Libraries lock some MiB for each connection; with less than this, RDMA fails sooner or later.
inline constexpr std::int64_t kLeastLockedMemory = 64 << 20;

// "this node has no active RDMA port (mlx5_0:1 is DOWN)". What to do is a part of it.
std::string obstacle_in_words(const RdmaObstacle& obstacle);

}  // namespace lockstep::runner
