#pragma once
// Reactions to requests that register, archive, prune and rebuild environments.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const CreateEnvironmentInput& input);
void react(Context& core, const PruneEnvironmentsInput& input);
void react(Context& core, const ArchiveEnvironmentInput& input);

// Makes the nodes solve and build the job's environment again, for the job's account alone.
void rebuild_environment(Context& core, const JobId& job, const std::string& by);
// Gives the job's family the locks of its account, if it has none yet: people's jobs decide what a
// family installs, and never the other way round.
void inherit_locks(Context& core, const JobId& job);
// Whoever uses a lock that this node solved solves and builds again, without it.
void drop_locks_of(Context& core, NodeId node, const std::string& by);

}  // namespace lockstep::launcher
