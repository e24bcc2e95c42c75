#pragma once
// Cancels a job, whoever asks for it, and finds the one that a request names.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Null: there is none, and the request is refused.
const Job* known_job(Context& core, const ReplyTo& reply, const JobId& id);

// Does nothing if the job is already canceled or final.
void cancel(Context& core, const JobId& job, const Why& by);

}  // namespace lockstep::launcher
