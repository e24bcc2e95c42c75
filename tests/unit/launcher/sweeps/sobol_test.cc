// Sobol's sequence: the points that SciPy and PyTorch give, and evenness.

#include "launcher/sweeps/sobol.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "launcher/sweeps/sampler.h"
#include "tests/unit/launcher/sweeps/spaces.h"

namespace lockstep::sweeps {
namespace {

using testing::ElementsAre;

std::vector<double> point_of(std::uint32_t number, std::size_t dimensions) {
  std::vector<double> point;
  for (const std::uint32_t coordinate : sobol_point(number, dimensions))
    point.push_back(coordinate / 4294967296.0);
  return point;
}

// scipy.stats.qmc.Sobol(d=5, scramble=False).random(8)
TEST(Sobol, IsThatOfSciPy) {
  EXPECT_THAT(point_of(0, 5), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(point_of(1, 5), ElementsAre(0.5, 0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(point_of(2, 5), ElementsAre(0.75, 0.25, 0.25, 0.25, 0.75));
  EXPECT_THAT(point_of(3, 5), ElementsAre(0.25, 0.75, 0.75, 0.75, 0.25));
  EXPECT_THAT(point_of(4, 5), ElementsAre(0.375, 0.375, 0.625, 0.875, 0.375));
  EXPECT_THAT(point_of(5, 5), ElementsAre(0.875, 0.875, 0.125, 0.375, 0.875));
  EXPECT_THAT(point_of(6, 5), ElementsAre(0.625, 0.125, 0.875, 0.625, 0.625));
  EXPECT_THAT(point_of(7, 5), ElementsAre(0.125, 0.625, 0.375, 0.125, 0.125));
}

TEST(Sobol, APointIsTheSameWhicheverCameBefore) {
  for (const std::uint32_t number : {1u, 2u, 3u, 17u, 64u, 999u})
    EXPECT_THAT(point_of(number, 3), ElementsAre(point_of(number, 1)[0], point_of(number, 2)[1],
                                                 point_of(number, 3)[2]));
}

// Of the first 2^k points, one is in each of the 2^k equal parts of each axis, also when shifted.
TEST(Sobol, ShiftedPointsAreAsEven) {
  constexpr std::size_t kDimensions = 40;
  constexpr std::uint32_t kPoints = 256;
  for (const std::uint64_t seed : {0u, 1u, 123u}) {
    std::vector<std::set<int>> parts(kDimensions);
    for (std::uint32_t number = 0; number < kPoints; ++number) {
      const auto point = shifted_sobol_point(seed, number, kDimensions);
      for (std::size_t i = 0; i < kDimensions; ++i) {
        EXPECT_GT(point[i], 0);
        EXPECT_LT(point[i], 1);
        parts[i].insert(static_cast<int>(std::floor(point[i] * kPoints)));
      }
    }
    for (const auto& part : parts) EXPECT_EQ(part.size(), kPoints);
  }
}

TEST(Sobol, TheSeedMovesThePoints) {
  EXPECT_EQ(shifted_sobol_point(7, 5, 3), shifted_sobol_point(7, 5, 3));
  EXPECT_NE(shifted_sobol_point(7, 5, 3), shifted_sobol_point(8, 5, 3));
}

TEST(Sobol, ATrialOfASweepGetsAPoint) {
  SweepSpec sweep = sweep_over({{"x", UniformRange{0, 1, false, {}}}, {"n", RandomInteger{16}}});
  RandomSampling sobol;
  sobol.rule = RandomSampling::Rule::sobol;
  sweep.sampling = sobol;
  std::set<std::string> integers;
  for (std::size_t trial = 0; trial < 16; ++trial) {
    const TrialParameters parameters = sample(sweep, 5, trial);
    const auto point = shifted_sobol_point(5, static_cast<std::uint32_t>(trial), 2);
    EXPECT_EQ(std::stod(parameters.at(0).value.text), point[0]);
    integers.insert(parameters.at(1).value.text);
  }
  EXPECT_EQ(integers.size(), 16u) << "each once";
}

TEST(Sobol, HasRoomForTheLargestSpace) {
  static_assert(kMaxSearchParameters <= kMaxSobolDimensions);
  EXPECT_EQ(sobol_point(3, kMaxSobolDimensions).size(), kMaxSobolDimensions);
}

}  // namespace
}  // namespace lockstep::sweeps
