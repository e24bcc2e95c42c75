#pragma once
// Reactions to requests that create, change or delete compute targets, and the view of a target.

#include <optional>
#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const ComputeInput& input);
void react(Context& core, const ProviderCheckedInput& input);

// nullopt: the target does not exist.
std::optional<ComputeView> compute_view(const Context& core, const std::string& name, bool history);

}  // namespace lockstep::launcher
