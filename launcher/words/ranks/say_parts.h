#pragma once
// Why a node's part of an attempt ended or did not start: what follows "the job could not be
// started on node n2: "; and why a node takes no new part.

#include <string>

#include "common/domain/why/ranks/parts.h"

namespace lockstep::words {

std::string say(const StoppedByOrder& reason);
std::string say(const PeerEndedGang& reason);
std::string say(const PortWasTaken& reason);
std::string say(const GangHung& reason);
std::string say(const RanksDiedWithSpawn& reason);
std::string say(const RankServerDied& reason);
std::string say(const LeaseRanOut& reason);
std::string say(const RanTooLong& reason);
std::string say(const PathIsBroken& reason);
std::string say(const GangNotConnected& reason);
std::string say(const ProbeDidNotEnd& reason);
std::string say(const ProbeFailed& reason);
std::string say(const OrderLacksGang& reason);
std::string say(const GangTableRefused& reason);
std::string say(const LimitsAreRequired& reason);

std::string say(const StoppedEarly& reason);
std::string say(const RunnerDied& reason);
std::string say(const RunnerWasKilled& reason);
std::string say(const RunnerToldNoEnd& reason);
std::string say(const HoldsMostParts& reason);
std::string say(const DiskLimitReached& reason);
std::string say(const DiskIsFull& reason);
std::string say(const EnvironmentFailedBefore& reason);

std::string say(const DiskIsLow& reason);
std::string say(const ProcessesAreScarce& reason);

std::string say(const NoFinalReport& reason);
std::string say(const IncompleteReport& reason);
std::string say(const LockWasNotKept& reason);

}  // namespace lockstep::words
