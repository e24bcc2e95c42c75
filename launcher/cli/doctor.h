#pragma once
// `lockstep doctor`, this account's side of it: the programs, the home and its keys, the launcher.
// What the machine can do as a node, `lockstep-agent doctor` says. Nothing is started, made or
// changed.

#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/domain/finding.h"
#include "common/domain/views.h"
#include "launcher/cli/context.h"

namespace lockstep::cli {

Findings examine_programs();
// `named` is the launcher that LOCKSTEP_LAUNCHER names ("": none): then the launcher that this home
// may have besides is nobody's concern, and the home of the named one is looked at where it is
// ours.
Findings examine_home(const LocalHome& home, const std::string& named = "");
Findings examine_launcher(const Context& context);

// How far the launcher's clock is from ours, by when it last heard of a node that is ALIVE, in an
// answer to what we asked between two moments of our clock. Pure; none when no node is.
Findings judge_clock(const std::vector<NodeView>& nodes, Instant asked, Instant answered);

// Whether there are nodes, and which of them are away. Pure.
Finding judge_nodes(const std::vector<NodeView>& nodes);

// Whether the launcher is of our version. Pure.
Finding judge_version(const std::string& launchers);

}  // namespace lockstep::cli
