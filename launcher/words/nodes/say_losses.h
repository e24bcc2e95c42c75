#pragma once
// The texts why nodes are lost, and why their reports are refused.

#include <string>

#include "common/domain/why/nodes/losses.h"

namespace lockstep::words {

std::string say(const NodeNotHeard& reason);
std::string say(const NodeRebooted&);
std::string say(const RunnerNotReported&);
std::string say(const PlacedBeforeBackup&);
std::string say(const NodeRevoked& reason);
std::string say(const AgentReplaced&);
std::string say(const MachineIsGone&);
std::string say(const InstanceForced& reason);
std::string say(const MachineForced&);
std::string say(const RunnerEnded&);
std::string say(const RunnerRemoved&);
std::string say(const AgentWasTold&);
std::string say(const ProviderSaysSo&);
std::string say(const MachineEnds& reason);
std::string say(const NodeWasRemoved& reason);
std::string say(const KeyNotKnown&);
std::string say(const KeyOfAnother& reason);
std::string say(const ForeignAttempt& reason);
std::string say(const LockNotAsked& reason);
std::string say(const LockOfAnotherPlatform& reason);
std::string say(const NoRoomForLock& reason);

}  // namespace lockstep::words
