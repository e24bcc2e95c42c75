#include "launcher/sweeps/sobol.h"

#include <boost/random/sobol.hpp>

#include "common/base/check.h"
#include "launcher/sweeps/unit_draw.h"

namespace lockstep::sweeps {
namespace {

using Engine = boost::random::sobol_engine<std::uint32_t, 32u>;
// No trial has this number.
constexpr std::uint64_t kShift = ~std::uint64_t{0} - 1;

}  // namespace

std::vector<std::uint32_t> sobol_point(std::uint32_t number, std::size_t dimensions) {
  CHECK(dimensions >= 1 && dimensions <= kMaxSobolDimensions, "too many dimensions for Sobol");
  std::vector<std::uint32_t> point(dimensions, 0);
  if (number == 0) return point;
  // Boost leaves out the origin.
  Engine engine(dimensions);
  engine.seed(number - 1);
  for (std::uint32_t& coordinate : point) coordinate = engine();
  return point;
}

std::vector<double> shifted_sobol_point(std::uint64_t seed, std::uint32_t number,
                                        std::size_t dimensions) {
  constexpr double kStep = 1.0 / 4294967296.0;  // 2^-32
  std::vector<double> shifted;
  shifted.reserve(dimensions);
  for (const std::uint32_t coordinate : sobol_point(number, dimensions)) {
    const auto shift = static_cast<std::uint32_t>(random_bits(seed, kShift, shifted.size()) >> 32);
    shifted.push_back((static_cast<double>(coordinate ^ shift) + 0.5) * kStep);
  }
  return shifted;
}

}  // namespace lockstep::sweeps
