#include "launcher/sweeps/sampler.h"

#include <algorithm>

#include "common/base/check.h"
#include "launcher/sweeps/draw.h"
#include "launcher/sweeps/grid.h"
#include "launcher/sweeps/sobol.h"
#include "launcher/sweeps/unit_draw.h"

namespace lockstep::sweeps {
namespace {

TrialParameters sobol_sample(const SweepSpec& sweep, const RandomSampling& sampling,
                             std::uint64_t seed, std::size_t trial) {
  const std::size_t dimensions = std::max<std::size_t>(dimensions_of(sweep.space), 1);
  const std::vector<double> point =
      shifted_sobol_point(seed, static_cast<std::uint32_t>(trial), dimensions);
  return draw(sweep.space, sampling.log_base,
              [&](std::size_t dimension) { return point[dimension]; });
}

}  // namespace

std::size_t trials_in_all(const SweepSpec& sweep) {
  const auto most = static_cast<std::size_t>(sweep.limits.max_total_trials);
  if (!std::holds_alternative<GridSampling>(sweep.sampling)) return most;
  return static_cast<std::size_t>(std::min<std::uint64_t>(combinations_of(sweep.space), most));
}

bool is_suggested(const SamplingAlgorithm& sampling) {
  return std::holds_alternative<BayesianSampling>(sampling);
}

TrialParameters sample(const SweepSpec& sweep, std::uint64_t seed, std::size_t trial) {
  if (std::holds_alternative<GridSampling>(sweep.sampling)) return combination(sweep.space, trial);
  const auto* random = std::get_if<RandomSampling>(&sweep.sampling);
  CHECK(random != nullptr, "the helper suggests the trials of a bayesian sweep");
  switch (random->rule) {
    case RandomSampling::Rule::sobol: return sobol_sample(sweep, *random, seed, trial);
    case RandomSampling::Rule::random: break;
  }
  return draw(sweep.space, random->log_base,
              [&](std::size_t dimension) { return unit_draw(seed, trial, dimension); });
}

}  // namespace lockstep::sweeps
