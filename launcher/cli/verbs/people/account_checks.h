#pragma once
// The checks of `lockstep doctor` for this account: the programs, the home and its keys, and the
// launcher. `lockstep-agent doctor` checks the machine as a node. Starts, creates and changes
// nothing.

#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/domain/messages/views.h"
#include "common/domain/targets/finding.h"
#include "launcher/cli/base/verb_context.h"

namespace lockstep::cli {

Findings examine_programs();
// Examines this home. `named` is the endpoint file in LOCKSTEP_LAUNCHER ("": none). If it is set,
// the named launcher's folder is examined in place of this home's, if it belongs to us.
Findings examine_home(const LocalHome& home, const std::string& named = "");
Findings examine_launcher(const Context& context);

// Estimates the offset between the launcher's clock and ours. The launcher's time is the time of
// its last message from an ALIVE node; our times are the times of the request (`asked`) and of the
// reply (`answered`). Without an ALIVE node it tells nothing about the launcher's clock. Also
// reports nodes whose clock differs from the launcher's. Pure.
Findings judge_clock(const std::vector<NodeView>& nodes, Instant asked, Instant answered);

// Reports whether there are nodes, and which of them are not ALIVE or wait for approval. Pure.
Finding judge_nodes(const std::vector<NodeView>& nodes);

// Makes one warning for each ALIVE node that takes no new work (drained, low on disk, …), as
// `lockstep status` and `node list` count them. Pure.
Findings judge_reasons(const std::vector<NodeView>& nodes);

// The launcher's version, and what its disk does. Pure.
Findings judge_status(const LauncherStatus& status);

// Reports whether the launcher has our version. Pure.
Finding judge_version(const std::string& launchers);

}  // namespace lockstep::cli
