#pragma once
// Makes a target with hosts, or adds hosts to it, and waits until they have joined.

#include "launcher/cli/base/verb_context.h"
#include "launcher/cli/targets/machine_wait.h"
#include "launcher/cli/text/targets/machine_progress.h"

namespace lockstep::cli {

// The goal of each machine in the answer: to join if it is a host of the target, else to be gone.
MachineProgress::Goals goals_of(const ComputeView& compute);

// Creates the target if it is not there, else adds its hosts to it. The target as it is now.
Result<ComputeView> attach_hosts(Connection& connection, Terminal& terminal,
                                 const ComputeSpec& spec);

// Waits as `wait` asks; returns the exit code. Without waiting it tells what goes on.
int wait_until_joined(Context& context, Connection& connection, const ComputeView& begun,
                      const MachineProgress::Goals& goals, const MachineWait& wait);

}  // namespace lockstep::cli
