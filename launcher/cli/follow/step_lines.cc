#include "launcher/cli/follow/step_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/pipeline_view.h"

namespace lockstep::cli {
namespace {

bool is_over(StepPhase phase) { return phase != StepPhase::waiting && phase != StepPhase::running; }

// A reused step's log belongs to another job, which only this line names.
bool is_elsewhere(const StepView& step) { return step.phase == StepPhase::reused; }

std::string behind_colon(const std::string& reason) {
  return reason.empty() ? "" : ": " + in_one_line(reason);
}

std::string text_of(const StepView& step) {
  const std::string& job = step.job.value;
  switch (step.phase) {
    case StepPhase::waiting: return "";
    case StepPhase::running:
      return fmt::format("{}: {} (job {}){}", step.name, step_state(step), job,
                         behind_colon(step.reason));
    case StepPhase::completed:
      if (step.started.ns == 0 || step.ended.ns == 0) return step.name + ": Completed";
      return fmt::format("{}: Completed after {}", step.name,
                         format_duration(step.ended - step.started));
    case StepPhase::reused: return fmt::format("{}: reused from job {}", step.name, job);
    case StepPhase::failed:
      return fmt::format("{}: {} (job {}){}", step.name, step_state(step), job,
                         behind_colon(step.reason));
    case StepPhase::skipped:
      return fmt::format("{}: not run{}", step.name, behind_colon(step.reason));
  }
  return "";
}

// Steps pass the other states of their jobs quickly, or wait there for a reason.
bool is_said_at_once(const StepView& step) {
  if (step.phase == StepPhase::running) return step.status == JobStatus::running;
  return is_over(step.phase);
}

}  // namespace

std::optional<std::string> in_vain_line(const std::vector<StepView>& steps) {
  const StepView* first = nullptr;
  for (const StepView& step : steps) {
    if (step.phase != StepPhase::running) continue;
    // For a step that ran, somebody may replace the nodes.
    const bool is_new = step.started.ns == 0;
    if (!step.in_vain || !is_new) return std::nullopt;
    if (first == nullptr) first = &step;
  }
  return first == nullptr ? std::nullopt : std::optional(text_of(*first));
}

std::vector<StepLine> StepLines::on_steps(const std::vector<StepView>& steps, Instant now) {
  const bool first = seen_.empty();
  seen_.resize(steps.size());
  std::vector<StepLine> lines;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepView& step = steps[i];
    Seen& seen = seen_[i];
    if (const std::string state = step_state(step); state != seen.state)
      seen = {state, now, first && !past_ && is_over(step.phase) && !is_elsewhere(step)};
    if (seen.said || step.phase == StepPhase::waiting) continue;
    if (!is_said_at_once(step) && now - seen.since < kWorthSaying) continue;
    seen.said = true;
    const bool has_logs = step.status && is_over(step.phase);
    lines.push_back(
        {has_logs ? step.job : JobId(), text_of(step), step.phase == StepPhase::skipped});
  }
  std::stable_partition(lines.begin(), lines.end(),
                        [](const StepLine& line) { return !line.after_all; });
  return lines;
}

}  // namespace lockstep::cli
