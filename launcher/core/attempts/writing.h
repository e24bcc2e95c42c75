#pragma once
// Writes merged outputs of completed jobs to remote datastores. The shell does the writing; failed
// writes are tried again after a pause. The job is final meanwhile.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Asks the shell to write the outputs that are due, and sets a timer for those that are not.
void advance_writes(Context& core, const Job& job);

void react(Context& core, const OutputWrittenInput& input);

}  // namespace lockstep::launcher
