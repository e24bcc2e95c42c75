#pragma once
// Decides which nodes of a gang dial which others. All pairs up to kAllPairsUpTo nodes; above that
// a ring and kRandomRings random rings, so that the cost grows with n. Each pair dials in both
// directions, because a firewall may drop only one of them. Nodes of one host do not dial each
// other, because nothing can be lost between them. It only computes.

#include <cstdint>
#include <string>
#include <vector>

#include "common/domain/runners/probe_protocol.h"

namespace lockstep::runner {

inline constexpr int kRandomRings = 2;
inline constexpr std::size_t kMostRingPeers = 16;  // for one node, if many nodes share a host

struct PlannedPeer {
  int node = 0;
  bool tested = true;  // false: only its rank ports are dialled
  bool burst = false;  // exactly one of each node's peers, so that all bursts go at once unhindered
  friend bool operator==(const PlannedPeer&, const PlannedPeer&) = default;
};
// By node rank: the peers that it dials, sorted by rank.
using PairPlan = std::vector<std::vector<PlannedPeer>>;

// The request for a plan. `hosts`: GangMember::host_id by node rank. `absent`: nodes that take no
// part. `seed`: of the attempt, so that each attempt has other random pairs. `all_dial_first`:
// every node also dials the rank ports of node rank 0 (MASTER_PORT).
struct PairRequest {
  std::vector<std::string> hosts;
  std::vector<bool> absent = {};
  std::uint64_t seed = 0;
  bool all_dial_first = false;
};
PairPlan plan_pairs(const PairRequest& request);

}  // namespace lockstep::runner
