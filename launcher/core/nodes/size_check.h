#pragma once
// Holds a node's inventory against the size of its target, and against the other nodes of its
// machine. A node that has less, or offers what another one offers, is unusable. The
// verdicts are kept in NodeWatches, because the catalogue of sizes is not a part of State.

#include <string>

#include "common/domain/why/why.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// A machine's system keeps some memory for itself.
inline constexpr double kMemoryTolerance = 0.1;

// What the node has less of; none: it has all that the size promises.
Why shortfall(const Inventory& inventory, const Size& size);

// Checks one node, all nodes of a target, or all nodes of the targets with this size again.
void check_size_of_node(Context& core, NodeId node);
void check_size_of_target(Context& core, const std::string& target);
void size_changed(Context& core, const std::string& size);

}  // namespace lockstep::launcher
