#include "launcher/cli/follow/state_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {

std::string state_text(const JobView& job) {
  std::string text = fmt::format("{}: {}", job.spec.name, to_string(job.status));
  if (job.attempts.size() > 1) text += fmt::format(", attempt {}", job.attempts.size());
  if (!job.reason.empty()) text += " (" + in_one_line(job.reason) + ")";
  return printable(text);
}

namespace {

// "; attempt 1 ended: exit code 3; retry 1 of 3".
std::string why_again(const JobView& job) {
  const AttemptView& before = job.attempts[job.attempts.size() - 2];
  if (before.retried.empty()) return "";
  const auto* earlier = job.attempts.size() > 2 ? &job.attempts[job.attempts.size() - 3] : nullptr;
  if (earlier != nullptr && earlier->report && before.report &&
      earlier->report->why == before.report->why)
    return fmt::format("; attempt {} ended like attempt {}", before.number, earlier->number);
  return fmt::format("; attempt {} ended: {}", before.number, in_one_line(before.retried));
}

}  // namespace

void StateLines::on_job(const JobView& job, Instant now) {
  Seen seen{job.status, job.attempts.size(), state_text(job)};
  if (now_ && now_->text == seen.text) return;
  const bool same_state = now_ && now_->status == seen.status && now_->attempts == seen.attempts;
  const bool again = now_ && seen.attempts > now_->attempts && now_->attempts > 0;
  // The line about the wait before a retry names the cause; a short wait has no line.
  const bool said_why = now_ && now_->status == JobStatus::queued && said_;
  if (again) ended_ = said_why ? "" : why_again(job);
  now_ = std::move(seen);
  if (is_final(job.status)) {
    due_ = Instant::never();
  } else if (!same_state) {
    // The end of a wait is shown if the wait was, and a retry always.
    const bool goes_on = said_any_ && job.status == JobStatus::running;
    due_ = again || goes_on ? now : now + kWorthSaying;
    said_.reset();
  } else if (said_) {
    due_ = std::min(now + kWorthSaying, *said_ + kBetweenReasons);
  }
}

std::optional<std::string> StateLines::take(Instant now) {
  if (now < due_) return std::nullopt;
  due_ = Instant::never();
  said_ = now;
  said_any_ = true;
  return now_->text + std::exchange(ended_, "");
}

Instant StateLines::next_deadline() const { return due_; }

}  // namespace lockstep::cli
