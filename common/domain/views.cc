#include "common/domain/views.h"

namespace lockstep {

std::string_view to_string(JobStatus status) {
  switch (status) {
    case JobStatus::queued: return "Queued";
    case JobStatus::preparing: return "Preparing";
    case JobStatus::starting: return "Starting";
    case JobStatus::running: return "Running";
    case JobStatus::finalizing: return "Finalizing";
    case JobStatus::cancel_requested: return "CancelRequested";
    case JobStatus::completed: return "Completed";
    case JobStatus::failed: return "Failed";
    case JobStatus::canceled: return "Canceled";
  }
  return "Failed";
}

std::optional<JobStatus> job_status_from(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(JobStatus::canceled); ++i) {
    const auto status = static_cast<JobStatus>(i);
    if (to_string(status) == word) return status;
  }
  return std::nullopt;
}

bool is_final(JobStatus status) {
  return status == JobStatus::completed || status == JobStatus::failed ||
         status == JobStatus::canceled;
}

}  // namespace lockstep
