#pragma once
// Computes where a job would run now: pure functions over State and node health. All parts of a
// gang are placed at once or none, within one network label. Requests for a part of a node may
// share the node. Nodes are tried by id, except that a later attempt keeps its nodes and their
// ranks if possible.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "launcher/core/base/cluster.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

struct Placed {
  std::vector<PartPlacement> parts;  // the parts; the index is the node rank
  std::vector<Why> why;
};
struct Blocked {
  Why why;
};  // enough nodes could run it, but not now
struct Impossible {
  Why why;
  bool in_vain = false;  // time alone does not help: in_vain.h
};                       // the existing nodes can never run it
using Placement = std::variant<Placed, Blocked, Impossible>;

Placement place(const Cluster& cluster, const Job& job);

// The groups of nodes within which a gang of this shape could ever lie.
using NodeGroup = std::vector<const Node*>;
std::vector<NodeGroup> groups_of(const Cluster& cluster, const std::string& pool,
                                 const Shape& shape);

// Why the job can never run on its target; otherwise nullopt. This is known only for elastic
// targets with fewer machines (invalid_argument), and for target local with a fixed number of nodes
// (unsatisfiable). Nodes that joined beyond that number count as well, unless they are LOST.
std::optional<Error> never_possible(const Cluster& cluster, const JobSpec& spec);

// One reason for each node of the job's pool, at most kMaxWhyLines: that it could run a part of the
// job now, or why it could not.
std::vector<Why> explain_nodes(const Cluster& cluster, const Job& job);
inline constexpr std::size_t kMaxWhyLines = 64;

// The time at which the back-off and the fences of a waiting job are over, so that it may be
// placed; ns = 0: now.
Instant ready_at(const Cluster& cluster, const Job& job);
// The part whose fence lasts longest; null when no part is fenced.
const Part* longest_fence(const Cluster& cluster, const Job& job);

}  // namespace lockstep::launcher
