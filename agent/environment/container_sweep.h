#pragma once
// Removes containers that nobody is responsible for any more: those of an attempt whose runner has
// ended, and those left by an image probe whose lockstep-env process has ended. It looks only at
// containers of this agent's home, which it knows by their labels:
//
//   lockstep.home      the agent's home
//   lockstep.attempt   the attempt's directory below it, by name; or
//   lockstep.process   who waits for it, as common/io/process.h writes it
//
// For worker threads.

#include "agent/environment/cache.h"
#include "agent/supervise/agent_home.h"

namespace lockstep::agent {

// Removes such containers from every engine that holds images of this cache's environments. If no
// engine holds any, the function only reads the cache's records.
void sweep_containers(const EnvironmentCache& cache, const AgentHome& home);

}  // namespace lockstep::agent
