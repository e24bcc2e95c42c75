#pragma once
// Containers that nobody is responsible for any more: of an attempt whose runner is gone, of a look
// into an image whose lockstep-env is. Those of this agent's home alone, by their labels:
//
//   lockstep.home      the agent's home
//   lockstep.attempt   the attempt's directory below it, by name; or
//   lockstep.process   who waits for it, as common/io/process.h writes it
//
// For worker threads.

#include "agent/environment/cache.h"
#include "agent/supervise/agent_home.h"

namespace lockstep::agent {

// Asks the engines that environments of this cache have images in; without any it costs a look at
// the disk.
void sweep_containers(const EnvironmentCache& cache, const AgentHome& home);

}  // namespace lockstep::agent
