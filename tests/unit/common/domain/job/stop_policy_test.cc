#include "common/domain/job/stop_policy.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace lockstep {
namespace {

TEST(StopPolicy, ReadsASignalAndItsTime) {
  EXPECT_EQ(early_signal_from("USR1@60")->number, SIGUSR1);
  EXPECT_EQ(early_signal_from("USR1@60")->before, seconds(60));
  EXPECT_EQ(early_signal_from("sigusr2@2m")->number, SIGUSR2);
  EXPECT_EQ(early_signal_from("sigusr2@2m")->before, minutes(2));
  EXPECT_EQ(early_signal_from("10@5")->number, SIGUSR1);
  EXPECT_EQ(early_signal_from("TERM")->before, kSignalBefore);
  for (const char* wrong : {"", "KILL@60", "SIGSTOP", "USR9@1", "USR1@", "USR1@0", "USR1@-5",
                            "USR1@soon", "999@60", "@60"})
    EXPECT_FALSE(early_signal_from(wrong)) << wrong;
  EXPECT_EQ(early_signal_name(SIGUSR1), "USR1");
}

std::string fault(const StopPolicy& policy, std::optional<Duration> timeout = {}) {
  const Status valid = validate(policy, timeout);
  return valid ? "" : valid.error().message;
}

TEST(StopPolicy, NamesWhatCannotBe) {
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(fault({Duration::zero()}), "");
  EXPECT_EQ(fault({kMostGrace}), "");
  EXPECT_EQ(fault({kMostGrace + seconds(1)}),
            "lockstep.grace_period: is 1h00m; at most 1h00m is possible");
  EXPECT_EQ(fault({seconds(-1)}), "lockstep.grace_period: must not be negative");
  const StopPolicy warned{{}, EarlySignal{SIGUSR1, seconds(60)}};
  EXPECT_EQ(fault(warned, minutes(5)), "");
  EXPECT_EQ(fault(warned),
            "lockstep.signal: comes before the end of limits.timeout, and the job has none; set "
            "--timeout, or limits.timeout in a job file");
  EXPECT_EQ(fault(warned, seconds(60)),
            "lockstep.signal: is to come 1m00s before the end of limits.timeout, which is 1m00s; "
            "write a shorter time");
  EXPECT_NE(fault({{}, EarlySignal{SIGKILL, seconds(1)}}, minutes(1)), "");
}

}  // namespace
}  // namespace lockstep
