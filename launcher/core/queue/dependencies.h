#pragma once
// The jobs whose ends a job waits for before it is queued (`lockstep.after`). State keeps those
// that it still waits for. Each end is looked at once, so that the ended job may be deleted
// afterwards.

#include "common/domain/why/jobs/waits.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Records which of these jobs have ended as the waiting job requires. Ends the waiting job if one
// of them can no longer end that way.
void advance_dependencies(Context& core, const Job& job);

// Returns an error if the job, or a task of its array, names jobs that do not exist or that the
// caller may not read.
std::optional<Error> refused_dependencies(const Cluster& cluster, const Caller& caller,
                                          const JobSpec& spec);

WaitsForJobs why_of_dependencies(const Job& job);

}  // namespace lockstep::launcher
