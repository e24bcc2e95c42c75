#pragma once
// Compares a node's inventory with the size of its target, and with the other nodes of its machine.
// A node that has less, or that offers what another node offers, is unusable. The results are kept
// in NodeWatches, because the catalogue of sizes is not a part of State.

#include <string>

#include "common/domain/why/why.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// The share of a machine's memory that its system may keep for itself.
inline constexpr double kMemoryTolerance = 0.1;

// The resource of the size of which the node has less; none: it has everything that the size
// promises.
Why shortfall(const Inventory& inventory, const Size& size);

// Checks again: one node, all nodes of a target, or all nodes of the targets of this size.
void check_size_of_node(Context& core, NodeId node);
void check_size_of_target(Context& core, const std::string& target);
void size_changed(Context& core, const std::string& size);

}  // namespace lockstep::launcher
