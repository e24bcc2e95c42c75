#pragma once
// Why a call of a provider failed for a machine.

#include <string>

#include "common/domain/why/nodes/providers.h"

namespace lockstep::words {

std::string say(const MachineStepFailed& reason);
std::string say(const ProviderSaid& reason);
std::string say(const MachineNotJoined& reason);
std::string say(const MachineNotJoinedWithin& reason);
std::string say(const MachineAgentDown& reason);
std::string say(const PasswordNotSet& reason);
std::string say(const PasswordUnusable& reason);
std::string say(const HostUnknown& reason);
std::string say(const TargetUnknown& reason);
std::string say(const MachinesNotWanted& reason);
std::string say(const NoMachineToWorkOn& reason);
std::string say(const ProviderTooSlow& reason);
std::string say(const ProviderPrintedTooMuch& reason);
std::string say(const ProviderLineTooLong& reason);
std::string say(const ProviderKilled& reason);
std::string say(const ProviderExited& reason);
std::string say(const ProviderSaidNothing& reason);
std::string say(const ProviderNotUnderstood& reason);

}  // namespace lockstep::words
