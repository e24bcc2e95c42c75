#pragma once
// The random numbers of a sweep. Each is a pure function of the sweep's seed, of the trial's number
// and of what is drawn, so that a launcher that starts again draws what it would have drawn, and no
// generator has a state to keep.

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/domain/sweep.h"

namespace lockstep::sweeps {

// 64 bits: SplitMix64's finalizer (Steele, Lea, Flood 2014) over the three numbers in turn.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t trial, std::uint64_t dimension);

// At least 2^-53, at most 1 - 2^-53.
double unit_draw(std::uint64_t seed, std::uint64_t trial, std::uint64_t dimension);

// That of the file, or one that follows from the job's name.
std::uint64_t seed_of(const SamplingAlgorithm& sampling, const std::string& job_name);

}  // namespace lockstep::sweeps
