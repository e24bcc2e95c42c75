#pragma once
// Removes orphaned containers: of attempts whose runner has ended, and of image probes whose
// lockstep-env process has ended. It looks only at containers of this agent's home, which have
// these labels:
//
//   lockstep.home      the agent's home
//   lockstep.attempt   the attempt's directory below it, by name; or
//   lockstep.process   the process that waits for it, as common/io/process.h writes it
//
// For worker threads.

#include "agent/environment/cache.h"
#include "agent/supervise/agent_home.h"

namespace lockstep::agent {

// Removes orphaned containers from every engine that has images of this cache's environments. If no
// engine has any, the function only reads the cache's records.
void sweep_containers(const EnvironmentCache& cache, const AgentHome& home);

}  // namespace lockstep::agent
