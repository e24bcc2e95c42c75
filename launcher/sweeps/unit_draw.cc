#include "launcher/sweeps/unit_draw.h"

#include "common/base/digest.h"

namespace lockstep::sweeps {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 / the golden ratio

std::uint64_t finalized(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t trial, std::uint64_t dimension) {
  std::uint64_t bits = finalized(seed + kGolden);
  bits = finalized(bits + kGolden * (trial + 1));
  return finalized(bits + kGolden * (dimension + 1));
}

// 52 bits and a half are exact in a double, so that neither 0 nor 1 comes out.
double unit_draw(std::uint64_t seed, std::uint64_t trial, std::uint64_t dimension) {
  constexpr double kStep = 1.0 / 4503599627370496.0;  // 2^-52
  return (static_cast<double>(random_bits(seed, trial, dimension) >> 12) + 0.5) * kStep;
}

std::uint64_t seed_of(const SamplingAlgorithm& sampling, const std::string& job_name) {
  const auto* random = std::get_if<RandomSampling>(&sampling);
  if (random != nullptr && random->seed) return static_cast<std::uint64_t>(*random->seed);
  const Digest digest = sha256("seed of sweep " + job_name);
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < sizeof seed; ++i) seed = seed << 8 | digest.bytes[i];
  return seed;
}

}  // namespace lockstep::sweeps
