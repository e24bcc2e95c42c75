#pragma once
// All combinations of a search space that has only choices, in the order of nested loops: the last
// parameter changes first.

#include <cstdint>

#include "common/domain/sweep.h"

namespace lockstep::sweeps {

inline constexpr std::uint64_t kManyCombinations = std::uint64_t{1} << 62;

// How many combinations there are; kManyCombinations if there are more.
std::uint64_t combinations_of(const SearchSpace& space);

// `index` is less than combinations_of(space).
TrialParameters combination(const SearchSpace& space, std::uint64_t index);

}  // namespace lockstep::sweeps
