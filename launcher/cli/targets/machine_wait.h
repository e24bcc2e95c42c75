#pragma once
// Waits for the machines of a target: asks the launcher how far they are, shows it on the terminal
// or as lines, and ends on Ctrl-C or after a time. The launcher goes on without us.

#include "launcher/cli/base/verb_context.h"
#include "launcher/cli/text/targets/machine_progress.h"

namespace lockstep::cli {

struct MachineWait {
  bool is_wanted = true;  // false: --no-wait was given
  std::string timeout;    // --timeout; "": none
};
// Reads --timeout; returns invalid_argument if it is not a time. Zero: none is given.
Result<Duration> timeout_of(const MachineWait& wait);

// The exit code: 0 if every machine is where it should be; 1 if one failed or `timeout` has passed;
// 130 after Ctrl-C.
int wait_for_machines(Context& context, Connection& connection, MachineProgress& progress,
                      Duration timeout);

}  // namespace lockstep::cli
