#pragma once
// What people ask of environments: to register, prune and rebuild them.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void react(Context& core, const CreateEnvironmentInput& input);
void react(Context& core, const PruneEnvironmentsInput& input);

// The project of a job or of a name that the caller makes: the one that they name, else the only
// one that they may submit into, else the default one.
std::string project_of_new(const Principals& principals, const Caller& caller,
                           const std::string& wanted);
Object object_of(const EnvironmentVersion& version);
bool may_see(const Principals& principals, const Caller& caller, const EnvironmentVersion& version);
// True: an environment that the caller may see is built from this tree, so their jobs may use it
// too.
bool sees_context(const State& state, const Caller& caller, const Digest& tree);

// The job's environment is solved and built anew.
void rebuild_environment(Context& core, const JobId& job, const std::string& by);

}  // namespace lockstep::launcher
