#include "launcher/sweeps/trial_metric.h"

namespace lockstep::sweeps {

bool is_better(Goal goal, double a, double b) { return goal == Goal::maximize ? a > b : a < b; }

void add_value(const std::optional<EarlyTermination>& early, Goal goal, double value,
               TrialMetric* metric) {
  ++metric->count;
  if (std::isfinite(value)) {
    ++metric->numbers;
    metric->sum += value;
    if (std::isnan(metric->best) || is_better(goal, value, metric->best)) metric->best = value;
  }
  if (!early || metric->marks.size() >= kMaxMarks) return;
  if (metric->count % static_cast<std::uint64_t>(early->interval) != 0) return;
  const double mean =
      metric->numbers == 0 ? kNoValue : metric->sum / static_cast<double>(metric->numbers);
  metric->marks.push_back({metric->best, mean});
}

}  // namespace lockstep::sweeps
