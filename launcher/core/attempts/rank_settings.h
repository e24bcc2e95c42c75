#pragma once
// The network settings of a job's ranks, as its nodes report them: chooses which ones are kept, and
// shows the settings of one rank beside the different settings of others. For people only.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// The report must be newer than all reports taken before.
void take_settings(Context& core, NodeId node, const PartReport& report);

// Removes settings from a report before it becomes a fact: those that `known` has already, and all
// settings of nodes after the first kNodesWithSettings. Nodes send the removed ones again when the
// launcher starts again.
void trim_settings(PartReport& report, const std::optional<PartReport>& known, int node_rank);
inline constexpr int kNodesWithSettings = 128;

SettingsView settings_of(const Cluster& cluster, const Job& job, int rank);

}  // namespace lockstep::launcher
