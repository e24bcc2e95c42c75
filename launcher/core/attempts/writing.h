#pragma once
// The merged outputs of completed jobs whose path is in a remote datastore: the shell writes them
// there, and what could not be written is tried again after a pause. The job is final meanwhile.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Asks the shell to write what waits to be written and is due, and sets a timer for the rest.
void advance_writes(Context& core, const Job& job);

void react(Context& core, const OutputWrittenInput& input);

}  // namespace lockstep::launcher
