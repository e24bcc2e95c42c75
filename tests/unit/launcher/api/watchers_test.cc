// Who watches jobs, and how many may.

#include "launcher/api/watchers.h"

#include <gmock/gmock.h>

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;

Asker asker(const std::string& user, const std::string& connection) {
  return {UserCaller{user}, PublicKey("key of " + user), "", connection};
}

TEST(Watchers, EachJobEachUserAndAllTogetherHaveABoundThatIsSaid) {
  Watchers watchers({.of_job = 3, .of_user = 2, .all = 4});
  const JobId a("a"), b("b");
  EXPECT_TRUE(watchers.add(a, asker("ann", "1")));
  EXPECT_TRUE(watchers.add(a, asker("ann", "1"))) << "again is no other";
  EXPECT_TRUE(watchers.add(b, asker("ann", "1")));
  EXPECT_THAT(watchers.add(a, asker("ann", "2")).error().message,
              HasSubstr("user 'ann' has 2 job watches"));
  EXPECT_TRUE(watchers.add(a, asker("bob", "3")));
  EXPECT_TRUE(watchers.add(a, asker("bob", "4")));
  EXPECT_THAT(watchers.add(a, asker("eve", "5")).error().message,
              HasSubstr("3 connections watch job 'a'"));
  EXPECT_THAT(watchers.add(b, asker("eve", "5")).error().message,
              HasSubstr("there are 4 job watches"));
  EXPECT_EQ(watchers.add(JobId("c"), asker("eve", "5")).error().code,
            ErrorCode::resource_exhausted);
  EXPECT_EQ(watchers.of(JobId("c")), nullptr);
  watchers.job_is_over(a);
  EXPECT_EQ(watchers.count(), 1U);
  EXPECT_TRUE(watchers.add(JobId("c"), asker("eve", "5")));
}

TEST(Watchers, WhoLeavesOrIsRevokedMakesRoom) {
  Watchers watchers({.of_job = 10, .of_user = 2, .all = 10});
  const JobId a("a"), b("b");
  EXPECT_TRUE(watchers.add(a, asker("ann", "1")));
  EXPECT_TRUE(watchers.add(b, asker("ann", "2")));
  watchers.gone("1");
  EXPECT_EQ(watchers.of(a), nullptr);
  EXPECT_TRUE(watchers.add(a, asker("ann", "3")));
  watchers.remove_key(PublicKey("key of ann"));
  EXPECT_EQ(watchers.count(), 0U);
  EXPECT_TRUE(watchers.add(a, asker("bob", "4")));
  watchers.drop_gone([](const std::string& connection) { return connection == "4"; });
  EXPECT_EQ(watchers.count(), 0U);
}

TEST(Watchers, RoundsNameEachWatchOnceAndAreEven) {
  Watchers watchers({.of_job = 1'000, .of_user = 1'000, .all = 1'000});
  const JobId a("a"), b("b");
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(watchers.add(a, asker("ann", std::to_string(i))));
  EXPECT_TRUE(watchers.add(b, asker("ann", "7"))) << "one connection, two jobs";
  watchers.gone("3");
  std::map<std::pair<JobId, std::string>, int> named;
  for (std::size_t i = 0; i < Watchers::kRounds; ++i) {
    const auto round = watchers.next_round();
    EXPECT_LE(round.size(), 6U);
    for (const auto& [job, asker] : round) ++named[{job, asker.connection}];
  }
  EXPECT_EQ(named.size(), 100U);
  for (const auto& [watch, times] : named) EXPECT_EQ(times, 1) << watch.second;
  watchers.job_is_over(a);
  watchers.job_is_over(b);
  for (std::size_t i = 0; i < Watchers::kRounds; ++i) EXPECT_TRUE(watchers.next_round().empty());
}

}  // namespace
}  // namespace lockstep::launcher
