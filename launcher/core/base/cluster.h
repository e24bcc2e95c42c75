#pragma once
// The data that questions about nodes and jobs read: the state, the messages heard from the nodes,
// and the time. Questions never change it.

#include "launcher/core/base/config.h"
#include "launcher/core/memory/liveness.h"
#include "launcher/core/memory/machine_calls.h"
#include "launcher/core/memory/machine_samples.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

struct KeptNodes;  // placement/node_fit.h

struct Cluster {
  const State& state;
  const NodeWatches& watches;
  const CoreConfig& config;
  Instant now = {};  // the time of the newest step
  // The time at which this launcher recovered its journal; ns = 0: the journal was empty.
  Instant recovered_at = {};
  const MachineSamples* samples = nullptr;  // null: no machine has been seen
  const KeptNodes* kept = nullptr;          // null: nothing is kept for a waiting job
  const MachineCalls* calls = nullptr;      // null: the calls of providers are unknown
};

}  // namespace lockstep::launcher
