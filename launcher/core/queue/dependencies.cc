#include "launcher/core/queue/dependencies.h"

#include <fmt/format.h>

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/waits.h"
#include "launcher/core/access/users.h"

namespace lockstep::launcher {

namespace {

// True for a deleted job too: its end was looked at before it was deleted.
bool has_ended(const Job* other) { return other == nullptr || other->is_final(); }

bool is_as_asked(const Job* other, AfterWhen when) {
  return other == nullptr || when == AfterWhen::ended ||
         other->finish()->status == JobStatus::completed;
}

ExitReport never_report(const Job& other, Instant now) {
  ExitReport report;
  report.cause = Cause::canceled;
  report.exit_code = 130;
  report.time = now;
  report.why = DependencyFailed{other.id, other.status()};
  return report;
}

}  // namespace

void advance_dependencies(Context& core, const Job& job) {
  const std::vector<After> waits_for = job.waiting().waits_for;
  for (const After& after : waits_for) {
    const Job* other = core.state.job(after.job);
    if (!has_ended(other)) continue;
    if (!is_as_asked(other, after.when)) {
      core.emit(JobFinished{job.id, JobStatus::canceled, never_report(*other, core.now)});
      return;
    }
    core.emit(DependencyMet{job.id, after.job});
  }
}

namespace {

std::optional<Error> refused_after(const Cluster& cluster, const Caller& caller,
                                   const JobSpec& spec) {
  for (const After& after : spec.queue.after) {
    const Job* other = cluster.state.job(after.job);
    if (other == nullptr)
      return make_error(ErrorCode::not_found,
                        fmt::format("lockstep.after: there is no job '{}'; `lockstep job list` "
                                    "shows all",
                                    after.job.value));
    Decision decision =
        may(cluster.state.principals(), caller, Permission::read_job, object_of(*other));
    if (!decision.allowed)
      return make_error(ErrorCode::permission_denied, "lockstep.after: " + decision.why);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> refused_dependencies(const Cluster& cluster, const Caller& caller,
                                          const JobSpec& spec) {
  if (auto error = refused_after(cluster, caller, spec)) return error;
  if (!spec.pipeline) return std::nullopt;
  for (const PipelineStep& step : spec.pipeline->steps)
    if (auto error = refused_after(cluster, caller, step.spec)) return error;
  return std::nullopt;
}

WaitsForJobs why_of_dependencies(const Job& job) {
  const std::vector<After>& jobs = job.waiting().waits_for;
  return {jobs.front().job, jobs.front().when, static_cast<int>(jobs.size()) - 1};
}

}  // namespace lockstep::launcher
