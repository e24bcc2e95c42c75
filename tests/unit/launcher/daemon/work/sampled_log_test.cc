#include "launcher/daemon/work/sampled_log.h"

#include <gtest/gtest.h>

namespace lockstep::launcher {
namespace {

TEST(SampledLog, AFloodIsAFewLinesASecondAndACount) {
  SampledLog log;
  Instant now{1'000'000'000'000};
  std::size_t lines = 0;
  for (int i = 0; i < 10'000; ++i) lines += log.take("refused", now + milliseconds(i)).size();
  EXPECT_LE(lines, 80U) << "in ten seconds";
  const auto last = log.take("refused", now + seconds(60));
  ASSERT_EQ(last.size(), 2U);
  EXPECT_NE(last[0].find("lines about refused messages were omitted"), std::string::npos);
  EXPECT_EQ(last[1], "refused");
}

}  // namespace
}  // namespace lockstep::launcher
