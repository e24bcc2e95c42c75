// What the golden file does not show: sentences that differ with what a reason has.

#include "launcher/words/jobs/say_waits.h"

#include <gtest/gtest.h>

#include "common/domain/why/all/redact.h"
#include "common/domain/why/jobs/waits.h"
#include "launcher/words/why.h"

namespace lockstep::words {
namespace {

constexpr Instant kAt{1'700'000'000'000'000'000};

TEST(WaitWords, OfAQuotaNameTheLimitAndWhatIsAsked) {
  EXPECT_EQ(
      text_of(WaitsForQuota{QuotaHolder::Kind::user, "ann", QuotaLimit::running_jobs, 1, 1, 1}),
      "waits: user 'ann' has 1 of 1 running jobs");
  EXPECT_EQ(text_of(WaitsForQuota{QuotaHolder::Kind::project, "p", QuotaLimit::gpus, 3, 4, 2}),
            "waits: project 'p' uses 3 of 4 gpus, and this job needs 2");
}

TEST(WaitWords, SayWhenTheHeadStartsIfThatIsKnown) {
  const Why why = told("no node is free");
  EXPECT_EQ(text_of(WaitsAtHead{why, {kAt, JobReachesItsLimit{JobId("a")}}}),
            "no node is free; starts at 2023-11-14T22:13:20.000Z at the latest, when job 'a' "
            "reaches its time limit");
  EXPECT_EQ(text_of(WaitsAtHead{why, {{}, JobHasNoLimit{JobId("a")}}}),
            "no node is free; it is not known when it starts: job 'a' has no limits.timeout");
  EXPECT_EQ(text_of(WaitsAtHead{why, {}}), "no node is free; it is not known when it starts");
}

TEST(WaitWords, JoinWhatTheHeadWaitsForAsASentence) {
  EXPECT_EQ(text_of(WaitsBehindJob{JobId("a"), WaitsAtHead{WaitsToBePlaced{}, {}}}),
            "waits behind job 'a', which waits to be placed; it is not known when it starts");
  EXPECT_EQ(text_of(WaitsBehindJob{JobId("a"), WaitsAtHead{told("the target is off"), {}}}),
            "waits behind job 'a': the target is off; it is not known when it starts");
  EXPECT_EQ(text_of(WaitsBehindJob{hidden(HiddenJob::any), WaitsToBePlaced{}}),
            "waits behind another job, which waits to be placed");
}

TEST(WaitWords, SayWhyAJobWentFirst) {
  const WentBeforeJob went{JobId("a"), {}, GoesFirst::ends_before, {}};
  const std::string opening = "went before job 'a' (it is not known when it starts): ";
  const auto said = [&](GoesFirst how) {
    WentBeforeJob one = went;
    one.how = how;
    if (how == GoesFirst::nodes_are_open) one.open_until = kAt;
    return text_of(one);
  };
  EXPECT_EQ(said(GoesFirst::ends_before), opening + "its own time limit is reached before");
  EXPECT_EQ(said(GoesFirst::fits_beside), opening + "that job does not need these resources then");
  EXPECT_EQ(said(GoesFirst::own_user), opening + "that job waits for others of its own user");
  EXPECT_EQ(said(GoesFirst::nodes_are_open),
            opening + "its nodes are open to other users until 2023-11-14T22:13:20.000Z");
}

TEST(WaitWords, CountTheOtherJobs) {
  EXPECT_EQ(text_of(WaitsForJobs{JobId("a"), AfterWhen::completed, 1}),
            "waits for job 'a' to complete, and for 1 more job");
  EXPECT_EQ(text_of(WaitsForJobs{JobId("a"), AfterWhen::ended, 0}), "waits for job 'a' to end");
}

TEST(WaitWords, OfARetryHaveTheTimeAndTheFence) {
  WaitsToRetry waits{told("retry 1 of 3"), seconds(4), kAt, ""};
  EXPECT_EQ(text_of(waits), "retry 1 of 3 in 4.0s (22:13:20Z)");
  waits.fenced_node = "n1";
  EXPECT_EQ(text_of(waits),
            "retry 1 of 3 in 4.0s (22:13:20Z), when no rank of the job can still run on node n1 "
            "(on_lost: after_fence); sooner if that node comes back");
}

TEST(WaitWords, SeveralNodesShareOneLine) {
  const PartProgress first{"n1", PartState::staging, "building: link 3/12 packages"};
  const PartProgress second{"n2", PartState::staging, "the node has not answered yet"};
  EXPECT_EQ(text_of(WaitsForParts{{first, second, {"n3", PartState::staging, ""}}, 2}),
            "node n1: building: link 3/12 …; n2: the node has not ans…; n3: staging; and 2 more");
  const std::string download =
      "solving:   Downloading scipy-1.11.4-cp311-cp311-manylinux.whl (36.4 MB)";
  const std::string install = "building: install packages 1120/1340 now";
  const WaitsForParts both{
      {{"n1", PartState::staging, download}, {"n2", PartState::staging, install}}, 0};
  EXPECT_EQ(
      text_of(both),
      "node n1: solving: Downloading scipy-1.11.4…; n2: building: install packages 1120/1340 …");
  const WaitsForParts one{{{"n1", PartState::staging, download}}, 0};
  EXPECT_EQ(text_of(one), "node n1: " + download) << "of one node all is said";
  EXPECT_TRUE(shows_progress(one, "n1", download));
  EXPECT_FALSE(shows_progress(both, "n1", download));
  EXPECT_FALSE(shows_progress(one, "n2", download));
  EXPECT_TRUE(shows_progress(NodeSays{"n1", "logs wait"}, "n1", "logs wait"));
}

TEST(WaitWords, NameTheNodeAndWhetherItIsHeard) {
  EXPECT_EQ(text_of(WaitsForVerdict{NodeStanding{"n2", Liveness::unknown}}),
            "a rank failed; waiting to hear from node n2 (UNKNOWN) before deciding the cause");
  EXPECT_EQ(text_of(WaitsToStop{NodeStanding{"n2"}}), "waits for node n2 to stop the job");
  EXPECT_EQ(text_of(WaitsForRanksToEnd{told("it failed"), NodeStanding{"n2"}}),
            "it failed; waits for node n2");
  EXPECT_EQ(text_of(WaitsForRanksToEnd{told("it failed"), {}}),
            "it failed; waiting for reports from all its nodes");
  const WaitsForLogs logs{{JobId("a"), 1}, {"n1"}, {}};
  EXPECT_EQ(text_of(logs), "waits for the logs of a.1 from node n1");
}

}  // namespace
}  // namespace lockstep::words
