#include "common/domain/runs/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/grammar/job_name.h"

namespace lockstep::metrics {

namespace {

bool is_of_inner_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

JobId job_of(const RunId& run) { return JobId(run.value.substr(0, run.value.find('.'))); }

bool is_inside_job(const RunId& run) { return run.value.find('.') != std::string::npos; }

Status validate(const RunId& run) {
  TRY(validate_job_name(job_of(run).value));
  if (!is_inside_job(run)) return {};
  const std::string inner = run.value.substr(run.value.find('.') + 1);
  const bool fits = !inner.empty() && inner.size() <= kMaxInnerNameBytes &&
                    std::all_of(inner.begin(), inner.end(), is_of_inner_name);
  if (fits) return {};
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' names no run: behind the dot are 1 to {} letters, digits, "
                                "'_' and '-'",
                                run.value.substr(0, kMaxJobNameBytes), kMaxInnerNameBytes));
}

Word describe(RunStatus status) {
  switch (status) {
    case RunStatus::scheduled: return {1, "SCHEDULED"};
    case RunStatus::running: return {2, "RUNNING"};
    case RunStatus::finished: return {3, "FINISHED"};
    case RunStatus::failed: return {4, "FAILED"};
    case RunStatus::killed: return {5, "KILLED"};
  }
  return {};
}
std::string_view to_string(RunStatus status) { return describe(status).word; }
std::optional<RunStatus> run_status_from(std::string_view word) {
  return with_word<RunStatus>(word);
}

RunStatus run_status_of(JobStatus status) {
  switch (status) {
    case JobStatus::queued:
    case JobStatus::preparing:
    case JobStatus::starting: return RunStatus::scheduled;
    case JobStatus::running:
    case JobStatus::finalizing:
    case JobStatus::cancel_requested: return RunStatus::running;
    case JobStatus::completed: return RunStatus::finished;
    case JobStatus::failed: return RunStatus::failed;
    case JobStatus::canceled: return RunStatus::killed;
  }
  return RunStatus::scheduled;
}

}  // namespace lockstep::metrics
