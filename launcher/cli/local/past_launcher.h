#pragma once
// For a home whose launcher is not running: tells who started the launcher last. If `lockstep` did,
// it may start it again; if the operator did, only the operator may. Reads the files that lockstepd
// left.

#include <optional>
#include <string>

#include "common/base/result.h"
#include "launcher/cli/local/home.h"

namespace lockstep::cli {

// Whether an operator started the launcher of this home last, by hand or with a service.
bool is_operators(const LocalHome& home);

// Checks that we may start the launcher. Returns unavailable if an operator started it, with the
// time since when it has not been running, if that is known, and the command that starts it again.
Status may_start_launcher(const LocalHome& home);

// How to restart a launcher that has ended: "`lockstep up` starts it again", or its operator's
// command.
std::string how_to_start(const LocalHome& home);

}  // namespace lockstep::cli
