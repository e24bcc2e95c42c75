#include "launcher/cli/local/division.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

// Hyperthreads as Linux numbers them: cpu i and i + cores share core i.
Machine machine(int packages, int cores, int threads) {
  Machine machine;
  machine.memory = gibibytes(64);
  for (int thread = 0; thread < threads; ++thread)
    for (int package = 0; package < packages; ++package)
      for (int core = 0; core < cores; ++core)
        machine.cpus.push_back({thread * packages * cores + package * cores + core, package, core});
  return machine;
}

TEST(Divide, KeepsCoresWholeAndNeighboursTogether) {
  const auto shares = divide(machine(2, 4, 2), 2);
  EXPECT_EQ(shares[0].cpus, (std::vector<int>{0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(shares[1].cpus, (std::vector<int>{4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_EQ(shares[0].memory, gibibytes(32));
}

TEST(Divide, UsesEachCpuOnce) {
  const auto shares = divide(machine(1, 8, 1), 3);
  std::vector<int> all;
  for (const auto& share : shares) {
    EXPECT_FALSE(share.cpus.empty());
    all.insert(all.end(), share.cpus.begin(), share.cpus.end());
  }
  EXPECT_EQ(all, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Divide, SplitsACoreOnlyWhenThereAreTooFew) {
  const auto shares = divide(machine(1, 2, 2), 4);
  EXPECT_EQ(shares[0].cpus, (std::vector<int>{0}));
  EXPECT_EQ(shares[1].cpus, (std::vector<int>{2}));
}

TEST(Divide, MoreNodesThanCpusShareThem) {
  const auto shares = divide(machine(1, 1, 1), 3);
  for (const auto& share : shares) EXPECT_EQ(share.cpus, (std::vector<int>{0}));
}

TEST(ThisMachine, HasACpuAndMemory) {
  const Machine here = this_machine();
  EXPECT_FALSE(here.cpus.empty());
  EXPECT_GT(here.memory, mebibytes(16));
}

}  // namespace
}  // namespace lockstep::cli
