#pragma once
// Handles a node's report on a part: its state, checkpoints, outputs so far, and texts for people.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Handles a report. `newest` is true if no later report of the node is known. If it is false, texts
// in the report are ignored.
void take_report(Context& core, NodeId node, const PartReport& report, bool newest);

// The interval at which changing outputs of a running part become a fact.
inline constexpr Duration kOutputsKeptEvery = seconds(60);
// The output of the same kind and name in the list; null: there is none.
inline const CollectedOutput* same_output(const std::vector<CollectedOutput>& outputs,
                                          const CollectedOutput& wanted) {
  for (const CollectedOutput& one : outputs)
    if (one.kind == wanted.kind && one.name == wanted.name) return &one;
  return nullptr;
}

// Records the part's outputs as a fact now, because the part is about to be given up.
void keep_outputs_so_far(Context& core, NodeId node, const AttemptId& attempt);

}  // namespace lockstep::launcher
