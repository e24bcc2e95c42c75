#pragma once
// Makes a target with hosts, or adds hosts to it, and waits until they have joined.

#include "launcher/cli/context.h"
#include "launcher/cli/machine_progress.h"
#include "launcher/cli/machine_wait.h"

namespace lockstep::cli {

// The machines that an answer shows, each with where it shall be: joined, unless it is no host of
// the target any more.
MachineProgress::Goals goals_of(const ComputeView& compute);

// Creates the target if it is not there, else adds its hosts to it. The target as it is now.
Result<ComputeView> attach_hosts(Connection& connection, Terminal& terminal,
                                 const ComputeSpec& spec);

// Waits as `wait` says; the exit code. Without waiting it says what goes on.
int wait_until_joined(Context& context, Connection& connection, const ComputeView& begun,
                      const MachineProgress::Goals& goals, const MachineWait& wait);

}  // namespace lockstep::cli
