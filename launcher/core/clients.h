#pragma once
// What people ask of jobs: submit, cancel and share. Deletion is in retention.h.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void react(Context& core, const SubmitInput& input);
void react(Context& core, const CancelInput& input);
void react(Context& core, const ShareInput& input);

// What a submission of it would be refused for now, but for its source; nullopt: it is taken.
std::optional<Error> why_refused(const Cluster& cluster, const Caller& caller, JobSpec spec);

// Unless it is canceled already, or final.
void cancel(Context& core, const JobId& job, const std::string& by);

}  // namespace lockstep::launcher
