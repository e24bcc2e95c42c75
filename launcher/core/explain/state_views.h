#pragma once
// Read-only views of the launcher's state for people: jobs and nodes, with why a job is in its
// state. Never an input to a decision. Reasons of jobs and steps are data here; launcher/api makes
// texts of them for their reader.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/messages/views.h"
#include "launcher/core/base/cluster.h"
#include "launcher/core/explain/words_of.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

// The caller sets `queue_position`, because it may show many jobs: see Scheduler::position.
JobView view_of(const Cluster& cluster, const Scheduler& scheduler, const Job& job,
                int queue_position, ViewDetail detail);
// Visits the jobs submitted before `after` (empty: all), newest first, until `take` returns false.
// Views have ViewDetail::outline.
void each_job_view(const Cluster& cluster, const Scheduler& scheduler, const JobId& after,
                   const std::set<std::uint64_t>* among,
                   const std::function<bool(const Job&)>& wanted,
                   const std::function<bool(JobView)>& take);
NodeView view_of(const Cluster& cluster, const Node& node);
// Why another attempt followed (Attempt::retried), without how this one ended. A text of an earlier
// version cannot be divided, so all of it counts as words of the job.
struct FollowedBy {
  Why why;
  WordsOf of = WordsOf::job;
};
FollowedBy what_followed(const Why& retried);

}  // namespace lockstep::launcher
