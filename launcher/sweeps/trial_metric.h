#pragma once
// What a sweep remembers of the values of the primary metric that one trial logged: the best one,
// and how the trial stood at each interval at which a policy may stop it. A value is one interval.
// A value that is not finite counts as an interval, but as no number: a trial that logs NaN alone
// has no best value, and is worse than any that has one.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/domain/sweep.h"

namespace lockstep::sweeps {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();
// A trial is judged no further after so many evaluations.
inline constexpr std::size_t kMaxMarks = 1'000;

struct TrialMetric {
  // How the trial stood after (its place in the list + 1) * evaluation_interval values.
  struct Mark {
    double best = kNoValue;  // of the values so far
    double mean = kNoValue;
  };
  std::uint64_t count = 0;  // of values
  double best = kNoValue;
  double sum = 0;
  std::uint64_t numbers = 0;  // how many of the values are finite
  std::vector<Mark> marks = {};
};

// False if either has no value.
bool is_better(Goal goal, double a, double b);

// `early`: of the sweep; nullopt: no marks are kept.
void add_value(const std::optional<EarlyTermination>& early, Goal goal, double value,
               TrialMetric* metric);

}  // namespace lockstep::sweeps
