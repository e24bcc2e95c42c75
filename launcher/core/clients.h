#pragma once
// Reactions to requests about jobs: submit, update, cancel and share. Deletion is in retention.h.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void react(Context& core, const SubmitInput& input);
void react(Context& core, const CancelInput& input);
void react(Context& core, const UpdateJobInput& input);
void react(Context& core, const ShareInput& input);

// The error with which a submission of this job would be refused now; nullopt: it would be
// accepted. Ignores the job's source. `wait_anyway`: as of Submit.
std::optional<Error> why_refused(const Cluster& cluster, const Caller& caller, JobSpec spec,
                                 bool wait_anyway);

// The part of it that is about the job's target and nodes.
std::optional<Error> refused_job(const Cluster& cluster, const JobSpec& spec, bool wait_anyway);

// The newest checkpoint of the job that `spec` names; nullopt: it names none. An error: there is no
// such job, the caller may not read it, or it has saved none.
Result<std::optional<CheckpointSource>> first_checkpoint(const Cluster& cluster,
                                                         const Caller& caller, const JobSpec& spec);

// Null: there is none, and the request is refused.
const Job* known_job(Context& core, const ReplyTo& reply, const JobId& id);

// Does nothing if the job is already canceled or final.
void cancel(Context& core, const JobId& job, const std::string& by);

}  // namespace lockstep::launcher
