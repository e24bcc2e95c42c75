#pragma once
// Decides how many machines an elastic target should have, and which of them are wanted or leave.
// docs/decisions/041-elastic-targets.md. machines/rules.h then makes the calls of the provider.
//
// The number is what the queued jobs can use now, plus the machines that hold parts, within
// min_instances and max_instances. It grows in one step, and falls when machines have been idle for
// the target's idle time. A machine that holds a part never leaves because of the number.

#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Emits the facts that are due for the target now. Does nothing for a target that is not elastic.
void scale(Context& core, const std::string& target);

// True if queued jobs could use a machine of the target.
bool has_demand(const Context& core, const std::string& target);

// The time at which scale() would decide differently because of the time alone; never() if it would
// not.
Instant next_scaling(const Context& core, const std::string& target);

ScalingView scaling_view(const Context& core, const std::string& target);

}  // namespace lockstep::launcher
