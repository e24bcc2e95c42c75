#pragma once
// Why a job, or the steps of a pipeline, would be refused because of the target and its nodes, and
// with which checkpoint a job starts. Pure.

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "launcher/core/base/caller.h"
#include "launcher/core/base/cluster.h"
#include "launcher/core/base/refusal.h"

namespace lockstep::launcher {

// The reasons about the job's target and nodes alone.
std::vector<Refusal> refusals_of_nodes(const Cluster& cluster, const JobSpec& spec,
                                       const Judging& how);

// Why the pipeline could not run as it is now: steps of it would be refused as jobs. A reason that
// several steps share is given once, for the first of them.
std::vector<Refusal> refusals_of_steps(const Cluster& cluster, const JobSpec& spec,
                                       const Judging& how);

// The newest checkpoint of the job that `spec` names; nullopt: it names none. Returns an error if
// that job does not exist, the caller may not read it, or it has saved no checkpoint.
Result<std::optional<CheckpointSource>> first_checkpoint(const Cluster& cluster,
                                                         const Caller& caller, const JobSpec& spec);

}  // namespace lockstep::launcher
