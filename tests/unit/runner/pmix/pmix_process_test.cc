// The runner and its lockstep-pmix: what it is to the ranks, and what the death of one means to the
// others.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <string>

#include "common/domain/why/all/convert.h"
#include "common/io/process.h"
#include "runner/spawn/sweep.h"
#include "tests/unit/runner/attempt.h"

namespace lockstep::runner::testing {
namespace {

constexpr unsigned kSomebody = 65534;

// As root with cgroups, and as an ordinary user.
class PmixOfRunner : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && running_as_root()) attempt_.runner_uid = kSomebody;
    attempt_.assignment.spec.distribution.kind = Distribution::Kind::mpi;
    attempt_.ranks(2).shell("echo up; exec sleep 1000");
    attempt_.start();
    ASSERT_TRUE(attempt_.printed("up", 0) && attempt_.printed("up", 1)) << attempt_.runner_log();
    for (const int pid : spawn::descendants_of(attempt_.pid()))
      if (file_of(pid, "comm") == "lockstep-pmix\n") server_ = pid;
    ASSERT_NE(server_, -1);
  }
  void TearDown() override {
    if (HasFailure()) std::fprintf(stderr, "runner.log:\n%s\n", attempt_.runner_log().c_str());
  }
  static std::string file_of(int pid, const std::string& name) {
    return io::read_file("/proc/" + std::to_string(pid) + "/" + name).value_or("");
  }

  Attempt attempt_;
  int server_ = -1;
};

TEST_P(PmixOfRunner, ItsDeathIsAnInfrastructureFailure) {
  kill(server_, SIGKILL);
  EXPECT_EQ(attempt_.wait(), 0);
  const auto report = attempt_.report();
  EXPECT_EQ(report.cause, Cause::runner_lost);
  EXPECT_FALSE(report.first_failed_rank);
  EXPECT_NE(log_text(report.why).find("(lockstep-pmix) was killed by signal 9"), std::string::npos)
      << log_text(report.why);
  EXPECT_TRUE(attempt_.survivors().empty());
  EXPECT_TRUE(attempt_.leftover_cgroups().empty());
}

TEST_P(PmixOfRunner, ItEndsWithItsRunner) {
  const auto server = io::identify(server_);
  ASSERT_TRUE(server);
  kill(attempt_.pid(), SIGKILL);
  EXPECT_TRUE(wait_until([&] { return !io::is_alive(*server); }));
}

// Ranks move to their cgroups a moment after their start.
TEST_P(PmixOfRunner, ItIsNotCountedAmongTheRanks) {
  const std::string of_runner = file_of(attempt_.pid(), "cgroup");
  const auto ranks_moved = [&] {
    for (const int pid : spawn::descendants_of(attempt_.pid()))
      if (file_of(pid, "comm") == "sleep\n" && file_of(pid, "cgroup") == of_runner) return false;
    return true;
  };
  if (running_as_root() && !GetParam()) {
    EXPECT_TRUE(wait_until(ranks_moved));
  }
  EXPECT_EQ(file_of(server_, "cgroup"), of_runner);
}

// The ranks' account may not look into it, as into its environment.
TEST_P(PmixOfRunner, ItHasNoMoreRightsThanTheRanks) {
  const std::string status = file_of(server_, "status");
  EXPECT_NE(status.find("NoNewPrivs:\t1"), std::string::npos) << status;
  if (GetParam() && running_as_root()) {
    EXPECT_NE(status.find("CapPrm:\t0000000000000000"), std::string::npos) << status;
    EXPECT_NE(status.find("Uid:\t65534\t65534\t65534\t65534"), std::string::npos) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Users, PmixOfRunner, ::testing::Bool(),
                         [](const auto& user) { return user.param ? "ordinary" : "own"; });

}  // namespace
}  // namespace lockstep::runner::testing
