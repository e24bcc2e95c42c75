#pragma once
// Read-only views of the launcher's state for people: jobs and nodes, with why a job is in its
// state. Never an input to a decision. Reasons of jobs and steps are data here; launcher/api makes
// words of them for their reader.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/messages/views.h"
#include "launcher/core/base/cluster.h"
#include "launcher/core/explain/words_of.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

// The caller counts `queue_position`, because it may show many jobs: see Scheduler::position.
JobView view_of(const Cluster& cluster, const Scheduler& scheduler, const Job& job,
                int queue_position, ViewDetail detail);
// Visits the jobs submitted before `after` (empty: all), newest first, until `take` returns false;
// in outline.
void each_job_view(const Cluster& cluster, const Scheduler& scheduler, const JobId& after,
                   const std::set<std::uint64_t>* among,
                   const std::function<bool(const Job&)>& wanted,
                   const std::function<bool(JobView)>& take);
NodeView view_of(const Cluster& cluster, const Node& node);
// Of Attempt::retried: why another attempt followed, without how this one ended. All of it, as
// words of the job, if it is an old text of which nobody knows where the one ends.
struct FollowedBy {
  Why why;
  WordsOf of = WordsOf::job;
};
FollowedBy what_followed(const Why& retried);

}  // namespace lockstep::launcher
