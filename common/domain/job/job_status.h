#pragma once
// The statuses of a job.

#include <optional>
#include <string_view>

#include "common/base/word.h"

namespace lockstep {

// The statuses of a job, with Azure's words (reference: statuses of `az ml job show`).
enum class JobStatus {
  queued,
  preparing,
  starting,
  running,
  finalizing,
  cancel_requested,
  completed,
  failed,
  canceled
};
Word describe(JobStatus status);
std::string_view to_string(JobStatus status);  // "Queued", "CancelRequested", …
constexpr JobStatus last_enumerator(JobStatus) { return JobStatus::canceled; }
std::optional<JobStatus> job_status_from(std::string_view word);
bool is_final(JobStatus status);

}  // namespace lockstep
