#pragma once
// What a job waits for before it takes a place in the queue: the ends of other jobs
// (`lockstep.after`). State keeps the jobs that it still waits for; each end of theirs is looked at
// once, so that they may be deleted afterwards.

#include "common/domain/why/jobs/waits.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Records which of the jobs that a waiting job waits for have ended as it asks. Ends the job when
// one of them can no longer end so.
void advance_dependencies(Context& core, const Job& job);

// An error if the job, or a task of its array, names jobs that there are not, or that the caller
// may not read.
std::optional<Error> refused_dependencies(const Cluster& cluster, const Caller& caller,
                                          const JobSpec& spec);

WaitsForJobs why_of_dependencies(const Job& job);

}  // namespace lockstep::launcher
