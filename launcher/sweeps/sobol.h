#pragma once
// Points of Sobol's sequence: quasi-random points of the unit cube that fill it evenly. Direction
// numbers are those of Joe and Kuo (SIAM J. Sci. Comput. 30, 2008), as in SciPy and PyTorch; Boost
// has them.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::sweeps {

inline constexpr std::size_t kMaxSobolDimensions = 3'667;  // of Boost's table

// The point with this number, 0 being the origin, as SciPy counts them without scrambling.
// Coordinates are in units of 2^-32. `dimensions` is 1 to kMaxSobolDimensions.
std::vector<std::uint32_t> sobol_point(std::uint32_t number, std::size_t dimensions);

// The same, moved by a digital shift that follows from the seed: it stays as even, and neither 0
// nor 1 comes out.
std::vector<double> shifted_sobol_point(std::uint64_t seed, std::uint32_t number,
                                        std::size_t dimensions);

}  // namespace lockstep::sweeps
