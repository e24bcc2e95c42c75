#pragma once
// The texts of events of compute targets, and why compute instances are on or off.

#include <string>

#include "common/domain/why/nodes/targets.h"

namespace lockstep::words {

std::string say(const InstanceByUser& reason);
std::string say(const InstanceBySchedule& reason);
std::string say(const InstanceWasIdle& reason);
std::string say(const TimeZoneUnknown& reason);
std::string say(const TargetWasCreated& reason);
std::string say(const TargetWasChanged& reason);
std::string say(const TargetIsDeletedBy& reason);
std::string say(const TargetDeletedBy& reason);
std::string say(const InstanceStartedSo& reason);
std::string say(const InstanceStoppedSo& reason);
std::string say(const MachineWasWanted& reason);
std::string say(const MachineWasFound& reason);
std::string say(const MachineWasCreated& reason);
std::string say(const MachineHasFailed& reason);
std::string say(const MachineLeavesSo& reason);
std::string say(const MachineWentAway& reason);
std::string say(const MachineHasJoined& reason);
std::string say(const MachineNodeRemoved& reason);

}  // namespace lockstep::words
