#pragma once
// `lockstep down`: the launcher ends when no unfinished job is left, or reports a job that did not
// end in time.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const ShutdownInput& input);

// Grants the shutdown if no job is unfinished.
void continue_shutdown(Context& core);
void give_up_shutdown(Context& core);  // called when its timer fired

}  // namespace lockstep::launcher
