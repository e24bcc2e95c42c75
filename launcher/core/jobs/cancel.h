#pragma once
// Cancels a job for any caller, and looks up the job that a request names.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Finds a job; null: it does not exist, and the request was refused.
const Job* known_job(Context& core, const ReplyTo& reply, const JobId& id);

// Does nothing if the job is already canceled or final.
void cancel(Context& core, const JobId& job, const Why& by);

}  // namespace lockstep::launcher
