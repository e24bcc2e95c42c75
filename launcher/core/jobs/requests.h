#pragma once
// Reactions to requests about jobs: submit, update, cancel and share. Deletion is in retention.h.

#include <vector>

#include "launcher/core/base/context.h"
#include "launcher/core/base/refusal.h"

namespace lockstep::launcher {

void react(Context& core, const SubmitInput& input);
void react(Context& core, const CancelInput& input);
void react(Context& core, const UpdateJobInput& input);
void react(Context& core, const ShareInput& input);

// Every reason for which a submission of this job would be refused now, the most important first;
// empty: it would be accepted. Ignores the job's source.
std::vector<Refusal> all_refusals(const Cluster& cluster, const Caller& caller, JobSpec spec,
                                  const Judging& how);

}  // namespace lockstep::launcher
