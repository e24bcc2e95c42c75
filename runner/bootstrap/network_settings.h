#pragma once
// The network settings (common/fabric/settings.h) of the ranks of this node. They follow from what
// its agent, the launcher and the probe reported about its gang; without a probe, from the routing
// table.

#include <vector>

#include "common/domain/targets/fabric.h"
#include "common/domain/why/ranks/notes.h"
#include "runner/bootstrap/gang_context.h"

namespace lockstep::runner {

// The settings of all ranks here, in the form of GangContext::network.
std::vector<NetworkSettings> network_of_ranks(const GangContext& gang);

// The settings of one rank: from gang.network if they were decided, otherwise computed now.
NetworkSettings network_of_rank(const GangContext& gang, int local_rank);

// The probable mistakes in one rank's settings; variables with the same mistake are named together.
std::vector<SettingIsMistaken> notes_of_mistakes(const NetworkSettings& settings);

}  // namespace lockstep::runner
