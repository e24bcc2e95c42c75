#pragma once
// What the helper of a bayesian sweep is asked, and what becomes of its answer. The helper keeps
// nothing: it gets all trials with each question. It knows numbers, integers and choices without
// their meaning; the values of trials are made here.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/sweep.h"
#include "launcher/sweeps/progress.h"

namespace lockstep::sweeps {

// One parameter as the helper knows it.
struct HelperParameter {
  enum class Kind {
    number,   // low to high, both included
    integer,  // 0 to count - 1: multiples of q
    choice,   // 0 to count - 1, in no order
  };
  Kind kind = Kind::number;
  double low = 0, high = 0;
  std::int64_t count = 0;
  friend bool operator==(const HelperParameter&, const HelperParameter&) = default;
};

struct HelperTrial {
  enum class State { complete, stopped, running };
  State state = State::running;
  std::vector<double> values;   // one for each parameter
  double objective = kNoValue;  // of one that runs: none
  std::uint64_t intervals = 0;  // how many values it logged
};

struct SuggestionRequest {
  std::string optuna;      // the version that must suggest; "": any
  std::uint64_t seed = 0;  // of this question
  Goal goal = Goal::minimize;
  std::size_t first_trial = 0;  // the number of the first trial that is suggested
  std::size_t count = 0;        // of suggestions
  std::vector<HelperParameter> parameters;
  std::vector<HelperTrial> trials;
};

struct Suggestions {
  std::size_t first_trial = 0;
  std::string optuna;  // the version that suggested
  std::vector<TrialParameters> trials;
};

// The steps from round(min / q) to round(max / q) that a quniform may give.
struct QuantizedSteps {
  std::int64_t first = 0, count = 0;
};
// nullopt: there are more than a helper can be told.
std::optional<QuantizedSteps> steps_of(const UniformRange& range);

// `sweep` is bayesian and valid. Trials without a value, and those whose values are not of this
// search space, are left out.
SuggestionRequest suggestion_request(const SweepSpec& sweep, const SweepProgress& progress,
                                     std::size_t count);

// The values of one suggestion. An error is of a helper that answers with what was not asked.
Result<TrialParameters> suggested_parameters(const SweepSpec& sweep,
                                             const std::vector<double>& values);

}  // namespace lockstep::sweeps
