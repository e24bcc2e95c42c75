#pragma once
// Why a target's machines are wanted, leave and are gone.

#include <string>

#include "common/domain/why/nodes/machines.h"

namespace lockstep::words {

std::string say(const HostOfTarget& reason);
std::string say(const JobsNeedMachine& reason);
std::string say(const MinInstances& reason);
std::string say(const InstanceIsOn& reason);
std::string say(const InstanceIsOff& reason);
std::string say(const NoJobFitsMachine& reason);
std::string say(const MachineNodeLost& reason);
std::string say(const MachineNotMade& reason);
std::string say(const MachineNotNeeded& reason);
std::string say(const MachineIdle& reason);
std::string say(const TargetDeleted& reason);
std::string say(const HostNotOfTarget& reason);
std::string say(const MachineRestarted& reason);
std::string say(const HostDetached& reason);
std::string say(const MachineNodeRevoked& reason);
std::string say(const MachineTakenAway& reason);
std::string say(const MachineNotKnown& reason);
std::string say(const MachineNeverReached& reason);
std::string say(const MachineForgotten& reason);
std::string say(const MachineRemoved& reason);
std::string say(const ScaledUp& reason);
std::string say(const ScaledDown& reason);
std::string say(const MachinesLackAccount& reason);
std::string say(const NeedsMoreHosts& reason);
std::string say(const WaitsForMachines& reason);
std::string say(const HeldByParent& reason);
std::string say(const StartsAfterParent& reason);

}  // namespace lockstep::words
