#pragma once
// One node against one request: what is used on it, whether a request could ever fit, whether it
// fits now, and which cpus and gpus it would then hold. Part of placement; pure.

#include <optional>
#include <set>
#include <string>

#include "launcher/core/placement.h"

namespace lockstep::launcher {

// What the parts that still run on a node hold.
struct InUse {
  std::set<int> cpus;
  std::set<int> gpus;
  std::optional<AttemptId> holder;  // one of them, for a reason in words
};
InUse in_use(const State& state, const Node& node);

// Why no part of this shape can ever run on this node as it is; nullopt when one could.
std::optional<std::string> never_fits(const Node& node, const Shape& shape);
// Why the node was found to be unable to run anything as this user; nullopt: it may be able.
std::optional<std::string> why_no_account(const Node& node, const std::string& run_as);
// It says itself that it has no container engine.
bool lacks_engine(const Inventory& inventory);
inline constexpr std::string_view kNoEngine =
    "the agent finds no docker and no podman on its PATH, or not what its "
    "LOCKSTEP_CONTAINER_ENGINE names; install one (apt-get install podman), and start "
    "lockstep-agent there again";
// Why the node lacks the hardware, or a container engine; nullopt when it is big enough. Needs its
// inventory.
std::optional<std::string> too_small(const Inventory& inventory, const Shape& shape);
// Why the part cannot start on the node now, given that it could ever; nullopt when it can.
std::optional<std::string> not_now(const Cluster& cluster, const Node& node, const Shape& shape);
// The same without words: cheap, for placement looks at every node.
bool fits_now(const Cluster& cluster, const Node& node, const Shape& shape);
// The resources that the part would hold. Only valid if both checks above pass.
Allotment allot(const Cluster& cluster, const Node& node, const Shape& shape);
std::string describe(const Allotment& allotment);

}  // namespace lockstep::launcher
