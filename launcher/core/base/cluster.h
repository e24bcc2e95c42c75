#pragma once
// What a question about nodes and jobs is asked of: the state, what is heard of the nodes, and the
// time. A question only reads it.

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
  Instant now = {};           // of the newest step
  Instant recovered_at = {};  // when this launcher recovered its journal; ns = 0: it was empty
  const MachineSamples* samples = nullptr;  // null: nothing is known
  const KeptNodes* kept = nullptr;          // null: nothing is kept
  const MachineCalls* calls = nullptr;      // null: nothing is known of machines that wait
};

}  // namespace lockstep::launcher
