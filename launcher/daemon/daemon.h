#pragma once
// lockstepd: one event loop that waits, decodes, lets the core decide, makes the facts durable, and
// only then acts and replies. home/layout.h draws the tree that it owns on disk.

#include "launcher/daemon/options.h"

namespace lockstep::launcher {

// Runs until a signal, a granted shutdown, or a failure that is logged.
ExitCode run_daemon(const Options& options);

}  // namespace lockstep::launcher
