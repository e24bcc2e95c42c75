#pragma once
// What a machine that a target does not have yet will be: of which size, and what it cannot run.
// Pure.

#include <string>

#include "launcher/core/base/cluster.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// The size of a target's machines; null: it has none, or none that is known.
const Size* size_of_target(const Cluster& cluster, const std::string& target);

// True if a machine that the target does not have yet could not run a part: by the target's size,
// or because new machines have no labels but those of the target and of its hosts, and names that
// nobody knows.
bool excludes_new_machines(const Cluster& cluster, const std::string& target, const Shape& shape);

}  // namespace lockstep::launcher
