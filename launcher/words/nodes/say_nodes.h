#pragma once
// The texts why a node takes no work at all, and about faults of its offer: "is LOST (…)". The
// sentence follows the node's name.

#include <string>

#include "common/domain/why/nodes/nodes.h"

namespace lockstep::words {

std::string say(const NodeAwaitsApproval& reason);
std::string say(const NodeNeverReported& reason);
std::string say(const NodeIsLost& reason);
std::string say(const NodeTakenAway& reason);
std::string say(const NodeDraining& reason);
std::string say(const NodeNotUnderstood& reason);
std::string say(const NodeUnheard& reason);
std::string say(const NodeSilent& reason);
std::string say(const NodeStopsOldAttempt& reason);
std::string say(const NodeAskedWhatRuns& reason);
std::string say(const NodeTakesNoWork& reason);
std::string say(const NodeCloned& reason);
std::string say(const NodeFull& reason);
std::string say(const NodeHasFewerThanSize& reason);
std::string say(const NodeHasLessMemoryThanSize& reason);
std::string say(const NodeLacksRdmaOfSize& reason);
std::string say(const NodeOffersAnothersDevice& reason);
std::string say(const NodeOffersTooMuchMemory& reason);
std::string say(const NodeClaimsAnothersMachine& reason);
std::string say(const MachineIsANode& reason);

}  // namespace lockstep::words
