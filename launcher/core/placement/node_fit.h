#pragma once
// Compares one node with one request: the use of the node, whether the request could ever fit,
// whether it fits now, and which cpus and gpus it would get. Part of placement; pure.

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
  std::optional<AttemptId> holder;  // one attempt that holds some of them, to name it in a reason
};
InUse in_use(const State& state, const Node& node);

// Why such a part can never run on this node as it is; none if it could.
Why never_fits(const Cluster& cluster, const Node& node, const Shape& shape);
// Why the node cannot run ranks as this user, if an attempt showed that; none: it may be able to.
Why why_no_account(const Node& node, const std::string& run_as);
// Why the node does not have its machine for itself; none: it does. Without a size of its target,
// the node must be alone on its machine. With a size, the size says whether a server is shared.
Why why_not_isolated(const Cluster& cluster, const Node& node);
// True if the node itself reports that it has no container engine.
bool lacks_engine(const Inventory& inventory);
// The hardware that the node lacks for the request, or that it lacks a container engine; none if it
// has enough. Only for nodes that have sent their inventory.
Why too_small(const Inventory& inventory, const Shape& shape);
// Why the part cannot run on the node now, if never_fits() has no reason; none if it can.
Why not_now(const Cluster& cluster, const Node& node, const Shape& shape);
// Why a node cannot take the part, with a short reason if it is busy: these reasons are kept with
// each placement that passed over the node.
Why why_skipped(const Cluster& cluster, const Node& node, const Shape& shape);
// Whether the part can run on the node now. Cheap, because placement calls it for every node.
bool fits_now(const Cluster& cluster, const Node& node, const Shape& shape);
// True if the part fits beside `use`, on a node that could run it.
bool has_room(const Node& node, const Node::Use& use, const Shape& shape);
// The resources that the part would get. The part must fit now.
Allotment allot(const Cluster& cluster, const Node& node, const Shape& shape);

// Why the node cannot run any work now; none if it can.
Why why_unusable(const Cluster& cluster, const Node& node);
// True if no node can have this job's account: the number of nodes is fixed, all of them have
// joined, and none has the account.
bool lacks_account(const Cluster& cluster, const Job& job);

// The resources that are kept for one waiting job. Other jobs may use only what that job does not
// need.
struct KeptNodes {
  JobId job;
  Shape shape;  // the request of that job
  // The resources that other jobs will use then, for each node that the job will get.
  std::map<NodeId, Node::Use> uses;
  // True if a part with this shape leaves enough for that job.
  bool leaves_room(const Node& node, const Shape& shape) const;
};

}  // namespace lockstep::launcher
