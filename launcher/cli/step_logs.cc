#include "launcher/cli/step_logs.h"

#include <algorithm>

namespace lockstep::cli {

// A job that waits for its first placement has no logs yet.
bool StepLogs::has_logs(const StepView& step) const {
  if (step.phase == StepPhase::reused) return reused_ && !step.job.value.empty();
  if (step.job.value.empty() || !step.status) return false;
  return *step.status != JobStatus::queued || step.started.ns != 0;
}

void StepLogs::on_steps(const std::vector<StepView>& steps, Instant now) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepView& step = steps[i];
    if (!has_logs(step)) continue;
    const auto [it, is_new] = jobs_.try_emplace(step.job);
    One& one = it->second;
    if (is_new) {
      one.order = i;
      set_due(step.job, one, once_ ? step.started : now);
    }
    const bool is_over = step.phase == StepPhase::reused || is_final(*step.status);
    if (once_ || one.read || one.ended || !is_over) continue;
    one.ended = true;
    set_due(step.job, one, std::min(one.due, now));
  }
}

std::optional<JobId> StepLogs::next(Instant now) const {
  if (due_.empty() || (!once_ && due_.begin()->first.first > now)) return std::nullopt;
  return due_.begin()->second;
}

void StepLogs::answered(const JobId& job, const Answer& answer, Instant now) {
  One& one = jobs_.at(job);
  if (answer.final || (once_ && !answer.more)) {
    due_.erase({one.due, one.order});
    one.read = true;
    return;
  }
  if (once_) return set_due(job, one, answer.reached);
  one.wait = answer.any ? kSoonest : std::min(2 * one.wait, kLatest);
  set_due(job, one, answer.more ? now : now + std::max(one.wait, at_least()));
}

bool StepLogs::is_read(const JobId& job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() || found->second.read;
}

Instant StepLogs::next_deadline() const {
  if (due_.empty()) return Instant::never();
  return once_ ? Instant{} : due_.begin()->first.first;
}

Duration StepLogs::at_least() const {
  return Duration(seconds(1)) / kAsksPerSecond * static_cast<std::int64_t>(due_.size());
}

void StepLogs::set_due(const JobId& job, One& one, Instant due) {
  due_.erase({one.due, one.order});
  one.due = due;
  due_[{due, one.order}] = job;
}

}  // namespace lockstep::cli
