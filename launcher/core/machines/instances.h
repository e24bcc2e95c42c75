#pragma once
// Compute instances: when schedules and idleness start and stop them, requests to start and stop
// them, and why jobs wait for a stopped one. docs/decisions/047-compute-instances.md. scaling.h
// gives a running instance its one machine, and a stopped one none.

#include <optional>
#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const InstanceInput& input);

// Emits the facts that are due for the target now. Does nothing for a target that is not a compute
// instance.
void advance_instance(Context& core, const std::string& target);

// The time at which advance_instance() would decide differently because of the time alone; never()
// if it would not.
Instant next_instance_change(const Context& core, const std::string& target);

InstanceView instance_view(const Context& core, const std::string& target);

// An error that names the schedule whose time zone does not exist.
std::optional<Error> refused_by_zones(const CoreConfig& config, const ComputeSpec& spec);

}  // namespace lockstep::launcher
