#include "launcher/sweeps/next.h"

#include <algorithm>

#include "launcher/sweeps/sampler.h"

namespace lockstep::sweeps {
namespace {

bool stops_trials(SweepEnding ending) {
  switch (ending) {
    case SweepEnding::timeout:
    case SweepEnding::canceled: return true;
    case SweepEnding::no_suggestions: return false;
  }
  return false;
}

std::size_t count_of(const SweepProgress& progress, TrialState state) {
  return static_cast<std::size_t>(
      std::count_if(progress.trials.begin(), progress.trials.end(),
                    [&](const Trial& trial) { return trial.state == state; }));
}

std::optional<SweepEnding> new_ending(const SweepSpec& sweep, const SweepProgress& progress,
                                      Instant now) {
  if (progress.ending) return std::nullopt;
  if (now - progress.began >= sweep.limits.timeout) return SweepEnding::timeout;
  const bool is_wanting = progress.trials.size() < trials_in_all(sweep);
  if (is_suggested(sweep.sampling) && is_wanting && progress.failed_asks >= kMaxFailedAsks)
    return SweepEnding::no_suggestions;
  return std::nullopt;
}

std::vector<TrialStop> stops_of_all(const SweepProgress& progress, SweepEnding ending) {
  std::vector<TrialStop> stops;
  for (std::size_t i = 0; i < progress.trials.size(); ++i)
    if (progress.trials[i].state == TrialState::active) stops.push_back({i, ending});
  return stops;
}

std::vector<TrialStop> stops_of_policy(const SweepSpec& sweep, const SweepProgress& progress) {
  std::vector<TrialStop> stops;
  if (!sweep.early_termination) return stops;
  for (StoppedTrial& stopped :
       early_stops(*sweep.early_termination, sweep.objective.goal, progress.trials))
    stops.push_back({stopped.trial, std::move(stopped.stop)});
  return stops;
}

// What is being stopped still has its nodes.
std::size_t room_of(const SweepSpec& sweep, const SweepProgress& progress) {
  const std::size_t begun = progress.trials.size() + progress.asked;
  const std::size_t all = trials_in_all(sweep);
  const std::size_t running = count_of(progress, TrialState::active) +
                              count_of(progress, TrialState::stopping) + progress.asked;
  const auto at_once = static_cast<std::size_t>(sweep.limits.at_once());
  if (begun >= all || running >= at_once) return 0;
  return std::min(all - begun, at_once - running);
}

void add_starts(const SweepSpec& sweep, const SweepProgress& progress, SweepStep* step) {
  const std::size_t room = room_of(sweep, progress);
  if (room == 0) return;
  if (is_suggested(sweep.sampling)) {
    // One question at a time: the next one has the answer to this among its trials.
    if (progress.asked == 0) step->ask = suggestion_request(sweep, progress, room);
    return;
  }
  const std::size_t first = progress.trials.size();
  for (std::size_t i = 0; i < room; ++i)
    step->start.push_back(sample(sweep, progress.seed, first + i));
}

SweepOutcome::Verdict verdict_of(const SweepProgress& progress, std::optional<SweepEnding> ending) {
  using Verdict = SweepOutcome::Verdict;
  if (ending && stops_trials(*ending)) return Verdict::canceled;
  if (ending) return Verdict::failed;
  if (count_of(progress, TrialState::completed) > 0) return Verdict::completed;
  const bool all_canceled = count_of(progress, TrialState::canceled) == progress.trials.size();
  return all_canceled ? Verdict::canceled : Verdict::failed;
}

bool is_ended(const SweepSpec& sweep, const SweepProgress& progress,
              const std::optional<SweepEnding>& ending) {
  const bool all_over = std::all_of(progress.trials.begin(), progress.trials.end(),
                                    [](const Trial& trial) { return is_over(trial.state); });
  return all_over && (ending || progress.trials.size() >= trials_in_all(sweep));
}

}  // namespace

SweepStep next(const SweepSpec& sweep, const SweepProgress& progress, Instant now) {
  SweepStep step;
  step.ending = new_ending(sweep, progress, now);
  const std::optional<SweepEnding> ending = step.ending ? step.ending : progress.ending;
  step.stop = ending && stops_trials(*ending) ? stops_of_all(progress, *ending)
                                              : stops_of_policy(sweep, progress);
  if (!ending) add_starts(sweep, progress, &step);
  if (is_ended(sweep, progress, ending))
    step.outcome = SweepOutcome{verdict_of(progress, ending), ending,
                                best_trial(progress, sweep.objective.goal)};
  // Whoever is late finds the time-out passed.
  else if (!ending)
    step.deadline = progress.began + sweep.limits.timeout;
  return step;
}

}  // namespace lockstep::sweeps
