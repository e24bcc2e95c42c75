#pragma once
// What people ask about compute targets: to create, change or delete one, and what one looks like.

#include <optional>
#include <string>

#include "launcher/core/context.h"

namespace lockstep::launcher {

void react(Context& core, const ComputeInput& input);

// not_found: names the nearest target, all that there are, and how to get one with this name.
Error no_such_compute(const State& state, const std::string& name);

// nullopt: there is no such target.
std::optional<ComputeView> compute_view(const Cluster& cluster, const std::string& name);

}  // namespace lockstep::launcher
