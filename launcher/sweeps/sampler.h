#pragma once
// Which values each trial of a sweep gets, where that follows from the trial's number alone: random
// draws, Sobol's sequence, a grid. Those of a Bayesian sweep a helper suggests (suggestions.h).

#include <cstddef>
#include <cstdint>

#include "common/domain/sweep.h"

namespace lockstep::sweeps {

// How many trials the sweep has in all: its limit, or the combinations of its grid if these are
// fewer.
std::size_t trials_in_all(const SweepSpec& sweep);

bool is_suggested(const SamplingAlgorithm& sampling);  // bayesian

// The values of trial `trial`, counted from 0. The sweep is not bayesian, and the trial is one of
// trials_in_all().
TrialParameters sample(const SweepSpec& sweep, std::uint64_t seed, std::size_t trial);

}  // namespace lockstep::sweeps
