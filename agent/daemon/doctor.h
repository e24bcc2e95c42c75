#pragma once
// `lockstep-agent doctor`: examines what this machine can do as a node. It reads files and starts
// short-lived programs to learn their versions; it joins and sends nothing, and leaves no files.

#include <string>

#include "agent/inventory/isolation.h"
#include "common/domain/targets/finding.h"

namespace lockstep::agent {

Findings examine_machine(const std::string& home);  // the agent's home, which need not exist
// Examines parts of it, for tests: `root` is "" or the root directory of a fake machine.
Findings examine_rdma(const std::string& root, bool memory_locking_unlimited);
Findings examine_gpus(const std::string& root, const std::string& nvml_library);
// How processes of jobs are ended on this node, and which limits of jobs cannot be enforced.
Finding examine_isolation(const IsolationProbe& probe);
// Finds the kinds of environments that can be built with the tools on this PATH.
Finding examine_environments(const std::string& path);
// The container engine; `choice`: LOCKSTEP_CONTAINER_ENGINE of the agent, "" = not set.
Finding examine_containers(const std::string& path, const std::string& choice);

}  // namespace lockstep::agent
