#pragma once
// Decides how many machines an elastic target should have, and which of them are wanted or leave.
// docs/decisions/041-elastic-targets.md. The calls of the provider follow from that
// (machines/rules.h).
//
// The number is what the queued jobs can use now, beside the machines that hold parts: between
// min_instances and max_instances. It grows in one step, and falls when machines were idle for the
// target's time. A machine that holds a part never leaves because of the number.

#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Emits what is due for the target now. Nothing for a target that is not elastic.
void scale(Context& core, const std::string& target);

// Whether jobs of the queue could use a machine of the target.
bool has_demand(const Context& core, const std::string& target);

// When scale() would decide otherwise if nothing else happens; never() if it would not.
Instant next_scaling(const Context& core, const std::string& target);

ScalingView scaling_view(const Context& core, const std::string& target);

}  // namespace lockstep::launcher
