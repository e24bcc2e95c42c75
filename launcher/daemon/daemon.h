#pragma once
// lockstepd: one loop that waits, decodes, lets the core decide, makes the facts durable, and only
// then acts and replies. See the tree of launcher_home.h for what it owns on disk.

#include "launcher/daemon/options.h"

namespace lockstep::launcher {

// Runs until a signal, a granted shutdown, or a failure that is logged.
ExitCode run_daemon(const Options& options);

}  // namespace lockstep::launcher
