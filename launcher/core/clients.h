#pragma once
// What people ask of jobs: submit and cancel. Deletion is in retention.h.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void react(Context& core, const SubmitInput& input);
void react(Context& core, const CancelInput& input);

// Unless it is canceled already, or final.
void cancel(Context& core, const JobId& job, const std::string& by);

}  // namespace lockstep::launcher
