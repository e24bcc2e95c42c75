#pragma once
// From what all nodes met to the network that the gang uses: of each node the interface that
// reaches the others fastest, and that the others reach. It is one network for all: a node's own
// best interface is of no use if the others answer over another one. It only computes.

#include <optional>
#include <string>
#include <vector>

#include "common/domain/runners/probe_protocol.h"

namespace lockstep::runner {

struct ProbedNode {
  std::string host;                       // GangMember::host_id
  std::string address;                    // GangMember::address: kept where nothing better is known
  std::optional<ProbeOffer> offer;        // absent: the node did not take part
  std::optional<ProbeFindings> findings;  // absent: the node did not answer in time
};

// Another network replaces the known one only if it is this many times faster, because two
// measurements of one network differ as well.
inline constexpr std::int64_t kClearlyFaster = 2;

// Chooses the network of the gang. The result's failures begin with the chosen network's. If there
// are any, `failed_on` is the node that most of them have in common.
ProbeOutcome choose(const std::vector<ProbedNode>& nodes);

}  // namespace lockstep::runner
