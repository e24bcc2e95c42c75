#pragma once
// `lockstep down`: the launcher ends when no job is left, or says which one did not end in time.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void react(Context& core, const ShutdownInput& input);

// Grants it when no job is unfinished.
void continue_shutdown(Context& core);
void give_up_shutdown(Context& core);  // its timer fired

}  // namespace lockstep::launcher
