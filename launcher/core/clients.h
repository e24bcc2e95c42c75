#pragma once
// What people ask of jobs: submit, cancel and share. Deletion is in retention.h.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void react(Context& core, const SubmitInput& input);
void react(Context& core, const CancelInput& input);
void react(Context& core, const ShareInput& input);

// Why a submission of this job would be refused now, apart from its source tree; nullopt: it would
// be accepted.
std::optional<Error> why_refused(const Cluster& cluster, const Caller& caller, JobSpec spec);

// Cancels the job unless it is already canceled or final.
void cancel(Context& core, const JobId& job, const std::string& by);

}  // namespace lockstep::launcher
