#pragma once
// Takes what a gang found out about its ranks from the report of node rank 0's part. The newest
// list stays in memory; it becomes a fact when it says something else, not when a number in it
// grows.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// The report must be newer than those taken before.
void take_found(Context& core, NodeId node, const PartReport& report);

// So many changes of an attempt's findings are facts at once, and one more after each interval: a
// node that makes them up does not fill the journal. The others are in views only.
inline constexpr int kFoundFactsAtOnce = 32;
inline constexpr Duration kFoundFactEvery = seconds(30);

}  // namespace lockstep::launcher
