#pragma once
// The network settings (common/fabric/settings.h) of the ranks of this node, from what its agent,
// the launcher and the probe told of its gang; without a probe, from the routing table.

#include <vector>

#include "common/domain/targets/fabric.h"
#include "common/domain/why/ranks/notes.h"
#include "runner/bootstrap/gang_context.h"

namespace lockstep::runner {

// Of all ranks here, as GangContext::network has them.
std::vector<NetworkSettings> network_of_ranks(const GangContext& gang);

// Of one rank: as decided in gang.network, else as they follow now.
NetworkSettings network_of_rank(const GangContext& gang, int local_rank);

// What looks like a mistake in one rank's settings, one for all variables with the same mistake.
std::vector<SettingIsMistaken> notes_of_mistakes(const NetworkSettings& settings);

}  // namespace lockstep::runner
