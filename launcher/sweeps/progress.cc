#include "launcher/sweeps/progress.h"

namespace lockstep::sweeps {

bool is_over(TrialState state) {
  switch (state) {
    case TrialState::active:
    case TrialState::stopping: return false;
    case TrialState::stopped:
    case TrialState::completed:
    case TrialState::failed:
    case TrialState::canceled: return true;
  }
  return true;
}

std::optional<std::size_t> best_trial(const SweepProgress& progress, Goal goal) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < progress.trials.size(); ++i) {
    const Trial& trial = progress.trials[i];
    if (trial.state != TrialState::completed || std::isnan(trial.metric.best)) continue;
    if (!best || is_better(goal, trial.metric.best, progress.trials[*best].metric.best)) best = i;
  }
  return best;
}

}  // namespace lockstep::sweeps
