#pragma once
// Compute instances: when schedules and idleness start and stop them, what people ask for, and why
// jobs wait for one that is stopped. docs/decisions/047-compute-instances.md. That an instance that
// is on has one machine, and one that is off has none, is a rule of scaling.h.

#include <optional>
#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const InstanceInput& input);

// Emits what is due for the target now. Nothing for a target that is no compute instance.
void advance_instance(Context& core, const std::string& target);

// When advance_instance() would decide otherwise if nothing else happens; never() if it would not.
Instant next_instance_change(const Context& core, const std::string& target);

InstanceView instance_view(const Context& core, const std::string& target);

// An error that names the schedule whose time zone does not exist.
std::optional<Error> refused_by_zones(const CoreConfig& config, const ComputeSpec& spec);

}  // namespace lockstep::launcher
