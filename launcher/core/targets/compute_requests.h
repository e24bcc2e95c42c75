#pragma once
// Reactions to requests that create, change or delete compute targets, and the view of a target.

#include <optional>
#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const ComputeInput& input);
void react(Context& core, const ProviderCheckedInput& input);

// A not_found error that names the nearest target and all targets, and says how to create this one.
Error no_such_compute(const State& state, const std::string& name);

// nullopt: there is no such target.
std::optional<ComputeView> compute_view(const Context& core, const std::string& name, bool history);

}  // namespace lockstep::launcher
