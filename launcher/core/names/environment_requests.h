#pragma once
// Reactions to requests that register, archive, prune and rebuild environments.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const CreateEnvironmentInput& input);
void react(Context& core, const PruneEnvironmentsInput& input);
void react(Context& core, const ArchiveEnvironmentInput& input);

// Makes the nodes solve and build the job's environment again, for the job's account only.
void rebuild_environment(Context& core, const JobId& job, const std::string& by);
// Copies the locks of the job's account to the job's family, if the family has none yet. A family
// starts with the packages that people's jobs installed; its own locks never become people's.
void inherit_locks(Context& core, const JobId& job);
// Removes the locks that this node solved. Jobs that use one of them solve and build again.
void drop_locks_of(Context& core, NodeId node, const std::string& by);

}  // namespace lockstep::launcher
