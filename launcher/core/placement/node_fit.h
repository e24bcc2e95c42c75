#pragma once
// Matches one node with one request: what is in use on the node, whether the request could ever
// fit, whether it fits now, and which cpus and gpus it would get. Part of placement; pure.

#include <map>
#include <optional>
#include <set>
#include <string>

#include "launcher/core/base/cluster.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// The resources that the running parts of a node hold.
struct InUse {
  std::set<int> cpus;
  std::set<int> gpus;
  std::optional<AttemptId> holder;  // one of them, for a reason
};
InUse in_use(const State& state, const Node& node);

// Why such a part can never run on this node in its present form; none when it could.
Why never_fits(const Cluster& cluster, const Node& node, const Shape& shape);
// Why the node cannot run anything as this user, if an attempt showed that; none: it may be able
// to.
Why why_no_account(const Node& node, const std::string& run_as);
// Why the node has no machine for itself; none: it has. Of a target without a size, one that has
// its machine alone does; of one with a size, the size says whether others are on the same server.
Why why_not_isolated(const Cluster& cluster, const Node& node);
// True if the node itself reports that it has no container engine.
bool lacks_engine(const Inventory& inventory);
// Which hardware the node lacks for the request, or that it lacks a container engine; none when it
// has enough. Only for nodes that have sent their inventory.
Why too_small(const Inventory& inventory, const Shape& shape);
// Why the part cannot run on the node now, given that never_fits() has no reason; none when it can.
Why not_now(const Cluster& cluster, const Node& node, const Shape& shape);
// The same of a node for which it has a reason, a short one where it is busy: they are kept with
// each placement that passed the node over.
Why why_skipped(const Cluster& cluster, const Node& node, const Shape& shape);
// The same without the reason. Cheap, because placement calls it for every node.
bool fits_now(const Cluster& cluster, const Node& node, const Shape& shape);
// Whether the part fits beside what is in use, on a node that could run it.
bool has_room(const Node& node, const Node::Use& use, const Shape& shape);
// The resources that the part would get. Only call it if the part fits now.
Allotment allot(const Cluster& cluster, const Node& node, const Shape& shape);

// Why the node can run no work at all now; none when it can.
Why why_unusable(const Cluster& cluster, const Node& node);
// True if no node can have this job's account: the number of nodes is fixed, all of them have
// joined, and none has the account.
bool lacks_account(const Cluster& cluster, const Job& job);

// What is kept for one job that waits. Others may use it only as far as that job does not need it.
struct KeptNodes {
  JobId job;
  Shape shape;                       // its request
  std::map<NodeId, Node::Use> uses;  // of each node that it will have, what others use then
  // Whether a part with this shape leaves enough for the job.
  bool leaves_room(const Node& node, const Shape& shape) const;
};

}  // namespace lockstep::launcher
