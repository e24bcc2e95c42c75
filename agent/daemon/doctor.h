#pragma once
// `lockstep-agent doctor`: what this machine can do as a node. It looks and starts short-lived
// programs for their versions; it joins nothing, sends nothing, and leaves nothing behind.

#include <string>

#include "common/domain/finding.h"

namespace lockstep::agent {

Findings examine_machine(const std::string& home);  // the agent's home, which need not be there
// Parts of it, for tests: `root` is "" or the root directory of a fake machine.
Findings examine_rdma(const std::string& root, bool memory_locking_unlimited);
Findings examine_gpus(const std::string& root, const std::string& nvml_library);
// With the tools that this PATH has.
Finding examine_environments(const std::string& path);
// The engine that runs containers; `choice`: LOCKSTEP_CONTAINER_ENGINE of the agent, "" = none.
Finding examine_containers(const std::string& path, const std::string& choice);

}  // namespace lockstep::agent
