#include "launcher/cli/follow/step_logs.h"

#include <algorithm>

namespace lockstep::cli {

// Whether a step has logs; a job that waits for its first placement has none yet.
bool StepLogs::has_logs(const StepView& step) const {
  if (step.phase == StepPhase::reused) return reused_ && !step.job.value.empty();
  if (step.job.value.empty() || !step.status) return false;
  return *step.status != JobStatus::queued || step.started.ns != 0;
}

void StepLogs::on_steps(const std::vector<StepView>& steps, Instant now) {
  if (!began_) began_ = now;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepView& step = steps[i];
    if (!has_logs(step)) continue;
    const auto [it, is_new] = jobs_.try_emplace(step.job);
    One& one = it->second;
    if (is_new) {
      one.order = i;
      set_due(step.job, one, in_order() ? step.started : now);
    }
    const bool is_over = step.phase == StepPhase::reused || is_final(*step.status);
    if (in_order() || one.read || one.ended || !is_over) continue;
    one.ended = true;
    set_due(step.job, one, std::min(one.due, now));
  }
}

std::optional<JobId> StepLogs::next(Instant now) const {
  if (due_.empty() || (!in_order() && due_.begin()->first.first > now)) return std::nullopt;
  return due_.begin()->second;
}

void StepLogs::answered(const JobId& job, const Answer& answer, Instant now) {
  One& one = jobs_.at(job);
  // A step that writes faster than its lines are read must not delay the others.
  const bool is_live = ask_ == Ask::once_then_on && answer.reached > *began_;
  if (answer.final || (in_order() && (!answer.more || is_live))) {
    due_.erase({one.due, one.order});
    one.past_read = true;
    one.read = answer.final || ask_ == Ask::once;
    return;
  }
  if (in_order()) return set_due(job, one, answer.reached);
  one.wait = answer.any ? kSoonest : std::min(2 * one.wait, kLatest);
  set_due(job, one, answer.more ? now : now + std::max(one.wait, at_least()));
}

void StepLogs::go_on(Instant now) {
  ask_ = Ask::on;
  for (auto& [job, one] : jobs_)
    if (!one.read) set_due(job, one, now);
}

bool StepLogs::is_past_read(const JobId& job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() || found->second.past_read;
}

bool StepLogs::is_read(const JobId& job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() || found->second.read;
}

Instant StepLogs::next_deadline() const {
  if (due_.empty()) return Instant::never();
  return in_order() ? Instant{} : due_.begin()->first.first;
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
