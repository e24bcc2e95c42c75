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

// Every reason for which a submission of this job would be refused now, in the order in which it
// would be said; empty: it would be accepted. Ignores the job's source.
std::vector<Refusal> all_refusals(const Cluster& cluster, const Caller& caller, JobSpec spec,
                                  const Judging& how);

// Only the reasons about the job's target and nodes.
std::vector<Refusal> refusals_of_nodes(const Cluster& cluster, const JobSpec& spec,
                                       const Judging& how);

// The newest checkpoint of the job that `spec` names; nullopt: it names none. An error: there is no
// such job, the caller may not read it, or it has saved none.
Result<std::optional<CheckpointSource>> first_checkpoint(const Cluster& cluster,
                                                         const Caller& caller, const JobSpec& spec);

// Null: there is none, and the request is refused.
const Job* known_job(Context& core, const ReplyTo& reply, const JobId& id);

// Does nothing if the job is already canceled or final.
void cancel(Context& core, const JobId& job, const Why& by);

}  // namespace lockstep::launcher
