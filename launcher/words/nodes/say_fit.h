#pragma once
// Why a node cannot take a part of a job. The sentence follows the node's name.

#include <string>
#include <string_view>

#include "common/domain/why/nodes/fit.h"

namespace lockstep::words {

std::string say(const NodeIsNotNamed& reason);
std::string say(const NodeHasNoLabel& reason);
std::string say(const NodeHasOtherLabel& reason);
std::string say(const SizeIsNotIsolated& reason);
std::string say(const NodeSharesMachine& reason);
std::string say(const NodeHasNoRdma& reason);
std::string say(const RdmaPortsAreDown& reason);
std::string say(const NodeIsInNoPartition& reason);
std::string say(const NodeLacksAccount& reason);
std::string say(const NodeLacksWhatJobNames& reason);
std::string say(const MachineEndsBeforeJob& reason);
std::string say(const NodeHasNoEngine& reason);
std::string say(const NodeHasFewer& reason);
std::string say(const NodeHasLessMemory& reason);
std::string say(const NodeHasFewerGpusThanRanks& reason);
std::string say(const NodeMayNotEnforceLimits& reason);
std::string say(const NodeCannotEnforceLimit& reason);
std::string say(const NodeAllowsFewerProcesses& reason);
std::string say(const NodeAllowsLessLog& reason);
std::string say(const NodeAllowsLessDisk& reason);
std::string say(const MachineRunsIsolated& reason);
std::string say(const NodeKeptFor& reason);
std::string say(const HeldAsAWhole& reason);
std::string say(const NodeUsedBy& reason);
std::string say(const NodeHasFewerFree& reason);
std::string say(const NodeHasLessMemoryFree& reason);
std::string say(const NodeHasTooLittleFree& reason);

// The reason for a missing engine, and what to do.
inline constexpr std::string_view kNoEngine =
    "the agent finds neither docker nor podman on its PATH, or not the engine that its "
    "LOCKSTEP_CONTAINER_ENGINE names; install one (apt-get install podman), and restart "
    "lockstep-agent on the node";

}  // namespace lockstep::words
