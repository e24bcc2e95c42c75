#include "common/domain/messages/views.h"

#include <algorithm>

namespace lockstep {

std::string_view to_string(StepPhase phase) {
  switch (phase) {
    case StepPhase::waiting: return "Waiting";
    case StepPhase::running: return "Running";
    case StepPhase::completed: return "Completed";
    case StepPhase::reused: return "Reused";
    case StepPhase::failed: return "Failed";
    case StepPhase::skipped: return "NotRun";
  }
  return "Waiting";
}

std::string_view to_string(RankState state) {
  switch (state) {
    case RankState::waiting: return "Waiting";
    case RankState::running: return "Running";
    case RankState::exited: return "Exited";
    case RankState::killed: return "Killed";
    case RankState::terminated: return "Terminated";
    case RankState::not_started: return "NotStarted";
    case RankState::unknown: return "Unknown";
  }
  return "Unknown";
}

namespace {

RankState state_of(const RankEnd& end) {
  if (!end.started) return RankState::not_started;
  if (end.terminated_by_us) return RankState::terminated;
  return end.signal != 0 ? RankState::killed : RankState::exited;
}

// Of the ranks of a part that are not known to have ended.
RankState state_of_others(PartState part) {
  switch (part) {
    case PartState::staging:
    case PartState::prepared: return RankState::waiting;
    case PartState::running:
    case PartState::stopping: return RankState::running;
    case PartState::collecting:
    case PartState::finished: return RankState::unknown;
  }
  return RankState::unknown;
}

}  // namespace

std::vector<RankView> ranks_of(const PartView& part) {
  std::vector<RankView> ranks;
  auto end = part.ended.begin();
  for (int rank = part.first_rank; rank < part.first_rank + part.ranks; ++rank) {
    while (end != part.ended.end() && end->rank < rank) ++end;
    if (end != part.ended.end() && end->rank == rank)
      ranks.push_back({rank, state_of(*end), *end});
    else
      ranks.push_back({rank, state_of_others(part.state), {}});
  }
  return ranks;
}

Word describe(JobStatus status) {
  switch (status) {
    case JobStatus::queued: return {1, "Queued"};
    case JobStatus::preparing: return {2, "Preparing"};
    case JobStatus::starting: return {3, "Starting"};
    case JobStatus::running: return {4, "Running"};
    case JobStatus::finalizing: return {5, "Finalizing"};
    case JobStatus::cancel_requested: return {6, "CancelRequested"};
    case JobStatus::completed: return {7, "Completed"};
    case JobStatus::failed: return {8, "Failed"};
    case JobStatus::canceled: return {9, "Canceled"};
  }
  return {};
}
std::string_view to_string(JobStatus status) { return describe(status).word; }

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

std::vector<std::string> unmatched_keep(const JobView& job) {
  std::vector<std::string> patterns;
  if (job.status != JobStatus::completed || job.attempts.empty()) return patterns;
  const std::vector<PartView>& parts = job.attempts.back().parts;
  for (std::uint32_t i = 0; i < job.spec.keep.size(); ++i) {
    const bool everywhere = std::all_of(parts.begin(), parts.end(), [&](const PartView& part) {
      if (!part.not_kept) return false;
      const auto& unmatched = part.not_kept->unmatched;
      return std::find(unmatched.begin(), unmatched.end(), i) != unmatched.end();
    });
    if (everywhere) patterns.push_back(job.spec.keep[i]);
  }
  return patterns;
}

}  // namespace lockstep
