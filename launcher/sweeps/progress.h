#pragma once
// What a sweep has done so far. The launcher's core folds it from its facts; which facts change
// what, stands at each member. The metric of a trial comes from the store of metrics, which has all
// values again after a restart.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/time.h"
#include "common/domain/sweep.h"
#include "launcher/sweeps/trial_metric.h"

namespace lockstep::sweeps {

enum class TrialState {
  active,     // its job has not ended
  stopping,   // next() has stopped it, and its job has not ended
  stopped,    // and its job has
  completed,  // its job has, also if it was being stopped
  failed,
  canceled,  // by a person
};
bool is_over(TrialState state);

struct Trial {
  TrialParameters parameters;
  TrialState state = TrialState::active;
  TrialMetric metric = {};
};

// Why a sweep starts no further trials.
enum class SweepEnding {
  timeout,         // limits.timeout; active trials are stopped
  canceled,        // a person canceled it; the same
  no_suggestions,  // the helper cannot suggest any; active trials go on
};

// A trial of an earlier sweep from which suggestions begin.
struct Observation {
  TrialParameters parameters;
  double value = kNoValue;
};

struct SweepProgress {
  std::uint64_t seed = 0;     // seed_of()
  Instant began = {};         // when the sweep was submitted
  std::vector<Trial> trials;  // by number
  std::optional<SweepEnding> ending = std::nullopt;
  std::vector<Observation> earlier = {};
  // Not from facts: so many suggestions were asked for and have not come yet.
  std::size_t asked = 0;
  int failed_asks = 0;  // since the last suggestion came
};

// The completed trial with the best value; of equal ones the first. nullopt: none has a value.
std::optional<std::size_t> best_trial(const SweepProgress& progress, Goal goal);

}  // namespace lockstep::sweeps
