#pragma once
// Takes what a gang found out about its ranks from the report of node rank 0's part. The newest
// list stays in memory. It becomes a fact if its findings changed, not if only a number in one
// grew.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// The report must be newer than all reports taken before.
void take_found(Context& core, NodeId node, const PartReport& report);

// An attempt's first changes of findings become facts at once, up to this number; after that, one
// for each interval. So a node that invents findings cannot fill the journal. Views have all of
// them.
inline constexpr int kFoundFactsAtOnce = 32;
inline constexpr Duration kFoundFactEvery = seconds(30);

}  // namespace lockstep::launcher
