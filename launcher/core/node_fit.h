#pragma once
// Matches one node with one request: what is in use on the node, whether the request could ever
// fit, whether it fits now, and which cpus and gpus it would get. Part of placement; pure.

#include <optional>
#include <set>
#include <string>

#include "launcher/core/placement.h"

namespace lockstep::launcher {

// The resources that the running parts of a node hold.
struct InUse {
  std::set<int> cpus;
  std::set<int> gpus;
  std::optional<AttemptId> holder;  // one of them, for a reason in words
};
InUse in_use(const State& state, const Node& node);

// Why such a part can never run on this node in its present form; nullopt when it could.
std::optional<std::string> never_fits(const Cluster& cluster, const Node& node, const Shape& shape);
// Why the node cannot run anything as this user, if an attempt showed that; nullopt: it may be able
// to.
std::optional<std::string> why_no_account(const Node& node, const std::string& run_as);
// Why the node has no machine for itself; nullopt: it has. Of a target without a size, one that has
// its machine alone does; of one with a size, the size says whether others are on the same server.
std::optional<std::string> why_not_isolated(const Cluster& cluster, const Node& node);
// True if the node itself reports that it has no container engine.
bool lacks_engine(const Inventory& inventory);
inline constexpr std::string_view kNoEngine =
    "the agent finds neither docker nor podman on its PATH, or not the engine that its "
    "LOCKSTEP_CONTAINER_ENGINE names; install one (apt-get install podman), and restart "
    "lockstep-agent on the node";
// Which hardware the node lacks for the request, or that it lacks a container engine; nullopt when
// it has enough. Only for nodes that have sent their inventory.
std::optional<std::string> too_small(const Inventory& inventory, const Shape& shape);
// Why the part cannot run on the node now, given that never_fits() is nullopt; nullopt when it can.
std::optional<std::string> not_now(const Cluster& cluster, const Node& node, const Shape& shape);
// The same of a node for which it has a reason, in few words where it is busy: they are kept with
// each placement that passed the node over.
std::string why_skipped(const Cluster& cluster, const Node& node, const Shape& shape);
// The same without the reason. Cheap, because placement calls it for every node.
bool fits_now(const Cluster& cluster, const Node& node, const Shape& shape);
// Whether the part fits beside what is in use, on a node that could run it.
bool has_room(const Node& node, const Node::Use& use, const Shape& shape);
// The resources that the part would get. Only call it if the part fits now.
Allotment allot(const Cluster& cluster, const Node& node, const Shape& shape);
std::string describe(const Allotment& allotment);

}  // namespace lockstep::launcher
