#pragma once
// The network settings of a job's ranks, as its nodes report them: what is kept of them, and one
// rank's with those of others that differ. For people only.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// The report must be newer than those taken before.
void take_settings(Context& core, NodeId node, const PartReport& report);

// Before the report becomes a fact: without settings that `known` has, and of a node behind the
// first kNodesWithSettings without any. Those are told again when the launcher starts again.
void trim_settings(PartReport& report, const std::optional<PartReport>& known, int node_rank);
inline constexpr int kNodesWithSettings = 128;

SettingsView settings_of(const Cluster& cluster, const Job& job, int rank);

}  // namespace lockstep::launcher
