#pragma once
// Why a job is placed where it is, or cannot be placed.

#include <string>
#include <vector>

#include "common/domain/why/nodes/placement.h"

namespace lockstep::words {

std::string describe(const NodesAsked& asked);  // "2 nodes with 4 cpus and 1 gpu each"
std::string labels_of(const std::vector<LabelAsked>& labels);  // "a=b, c=d"

std::string say(const NodePassedOver& reason);
std::string say(const NodeSkipped& reason);
std::string say(const NodeCouldRun& reason);
std::string say(const MoreNodes& reason);
std::string say(const PlacedOnNode& reason);
std::string say(const WaitsForNodes& reason);
std::string say(const InstanceIsStopped& reason);
std::string say(const NodesWereRemoved& reason);
std::string say(const TargetHasNoNodesYet& reason);
std::string say(const TargetHasNoNodes& reason);
std::string say(const NoMachineGivesThat& reason);
std::string say(const JobOutlivesMachines& reason);
std::string say(const TooFewNodesFit& reason);
std::string say(const TargetWasChosen& reason);
std::string say(const InstanceTypeNotUsed& reason);

}  // namespace lockstep::words
