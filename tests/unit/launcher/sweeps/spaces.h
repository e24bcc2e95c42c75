#pragma once
// Search spaces and sweeps for tests, in few words.

#include <string>
#include <utility>
#include <vector>

#include "common/domain/sweep.h"

namespace lockstep::sweeps {

inline SweepValue text_value(const std::string& text) { return {SweepValue::Kind::text, text}; }

inline Choice choice_of(const std::vector<SweepValue>& values) {
  Choice choice;
  for (const SweepValue& value : values) choice.options.push_back({value, {}});
  return choice;
}
inline ChoiceOption object_option(SearchSpace object) { return {{}, std::move(object)}; }

inline SweepSpec sweep_over(SearchSpace space, int trials = 10, int at_once = 0) {
  SweepSpec sweep;
  sweep.space = std::move(space);
  sweep.sampling = RandomSampling{};
  sweep.objective = {Goal::maximize, "accuracy"};
  sweep.limits.max_total_trials = trials;
  sweep.limits.max_concurrent_trials = at_once;
  return sweep;
}

}  // namespace lockstep::sweeps
