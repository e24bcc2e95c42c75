#pragma once
// From a point of the unit cube to the values of a trial. Each place of the search space where
// something is drawn is one dimension of the cube, counted depth first through all options of all
// choices, so that a place keeps its dimension whichever option is chosen.

#include <cstddef>
#include <functional>

#include "common/domain/sweep.h"

namespace lockstep::sweeps {

std::size_t dimensions_of(const SearchSpace& space);

// Called with each dimension that counts, in ascending order; more than 0 and less than 1.
using Coordinate = std::function<double(std::size_t dimension)>;

// Formulas: Azure's (reference-yaml-job-sweep, "Parameter expressions"). `log_base`: of logarithmic
// expressions, e as a rule.
TrialParameters draw(const SearchSpace& space, double log_base, const Coordinate& coordinate);

}  // namespace lockstep::sweeps
