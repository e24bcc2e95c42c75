#include "common/domain/job/queue_settings.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::int64_t seconds_at(const std::string& text) {
  QueueSettings queue;
  return read_not_before(text, &queue) ? queue.not_before.ns / 1'000'000'000 : -1;
}

TEST(NotBefore, TimeStampsHaveAZone) {
  EXPECT_EQ(seconds_at("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(seconds_at("2026-11-26T18:00:00Z"), 1'795'716'000);
  EXPECT_EQ(seconds_at("2026-11-26 18:00Z"), 1'795'716'000);
  EXPECT_EQ(seconds_at("2026-11-26T19:00+01:00"), 1'795'716'000);
  EXPECT_EQ(seconds_at("2026-11-26T12:30:00-0530"), 1'795'716'000);
  EXPECT_EQ(seconds_at("2028-02-29T00:00Z"), 1'835'395'200);
  for (const char* wrong :
       {"2026-11-26T18:00:00", "2026-11-26", "2026-02-29T00:00Z", "2026-13-01T00:00Z",
        "2026-11-26T24:00Z", "2026-11-26T18:00:00+1", "2026-11-26T18:00Zx", "26-11-26T18:00Z",
        "9999-11-26T18:00Z", "18:00Z", "2026-11-26T18:00+99:00"})
    EXPECT_EQ(seconds_at(wrong), -1) << wrong;
}

TEST(NotBefore, DurationsAreFromNow) {
  QueueSettings queue;
  ASSERT_TRUE(read_not_before("90s", &queue));
  EXPECT_EQ(queue.delay, seconds(90));
  EXPECT_FALSE(read_not_before("-5m", &queue));
}

TEST(QueueSettings, NameAtMostAHundredJobs) {
  QueueSettings queue;
  for (std::size_t i = 0; i < kMaxAfter; ++i)
    queue.after.push_back({JobId("job" + std::to_string(i)), AfterWhen::ended});
  EXPECT_TRUE(validate(queue));
  queue.after.push_back({JobId("one-more"), AfterWhen::ended});
  EXPECT_EQ(validate(queue).error().message,
            "lockstep.after: names 101 jobs; at most 100 are possible");
}

}  // namespace
}  // namespace lockstep
