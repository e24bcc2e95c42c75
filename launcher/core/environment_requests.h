#pragma once
// What people ask of environments: to register, prune and rebuild them.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void react(Context& core, const CreateEnvironmentInput& input);
void react(Context& core, const PruneEnvironmentsInput& input);

// The job's environment is solved and built anew.
void rebuild_environment(Context& core, const JobId& job, const std::string& by);

}  // namespace lockstep::launcher
