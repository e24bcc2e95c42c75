// What the golden file does not show: each form of a sentence about a node's part.

#include "launcher/words/ranks/say_parts.h"

#include <gmock/gmock.h>

#include "common/domain/why/ranks/parts.h"
#include "common/domain/why/ranks/ranks.h"
#include "launcher/words/why.h"

namespace lockstep::words {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const PathIsBroken kBroken{
    {1, 2, "10.9.0.2", "eth1", "10.9.0.3", 41'999, PathTrouble::timed_out, 0}, "n1", "n2", 0};

TEST(PartWords, AnotherNodeEndedTheGang) {
  EXPECT_EQ(say(PeerEndedGang{1, RankEnded{1, Cause::signal, 0, 9, true, {}}}),
            "node rank 1 ended the gang: rank 1 was killed by signal 9");
  EXPECT_EQ(say(StoppedByOrder{StopReason::canceled}), "stopped by order: canceled");
  EXPECT_EQ(say(GangHung{FoundKind::stopped, {1, 3}}), "stopped rank 1 rank 3");
}

TEST(PartWords, PathsThatAreBroken) {
  EXPECT_THAT(say(kBroken),
              StartsWith("n1 (10.9.0.2, eth1) cannot reach n2 (10.9.0.3) port 41999: timed out; "));
  EXPECT_EQ(say(kBroken).find("more of its paths"), std::string::npos);
  PathIsBroken several = kBroken;
  several.more = 1;
  EXPECT_EQ(say(several), say(kBroken) + "; 1 more of its paths is broken");
  several.more = 2;
  EXPECT_EQ(say(several), say(kBroken) + "; 2 more of its paths are broken");
}

TEST(PartWords, AGangThatDoesNotConnect) {
  EXPECT_EQ(say(GangNotConnected{seconds(30), {}}),
            "the runners of the gang did not all connect within 30.0s");
  EXPECT_THAT(say(GangNotConnected{seconds(27), kBroken}),
              HasSubstr("did not all connect within 27.0s: n1 (10.9.0.2, eth1) cannot reach n2 "
                        "(10.9.0.3) port 41999: timed out; "));
  EXPECT_THAT(say(ProbeDidNotEnd{seconds(20)}), HasSubstr("had no end within 20.0s"));
}

TEST(PartWords, ATableThatIsRefused) {
  EXPECT_EQ(say(GangTableRefused{0, TableFault::out_of_order, "", 6, 3, 7}),
            "the gang's table, as node rank 0 passed it on, has the row of node rank 6 where that "
            "of 3 was due");
  EXPECT_THAT(say(GangTableRefused{0, TableFault::wrong_count, "", 0, 0, 7}),
              HasSubstr("does not have one row for each of the gang's 7 nodes"));
  EXPECT_EQ(say(GangTableRefused{1, TableFault::altered, "", 0, 0, 7}),
            "the gang's table, as node rank 1 passed it on, is not the one that the launcher made "
            "(their digests differ)");
  EXPECT_THAT(say(GangTableRefused{0, TableFault::other_attempt, "job.1", 0, 0, 7}),
              HasSubstr("is that of attempt job.1"));
  EXPECT_EQ(say(GangTableRefused{0, TableFault::incomplete, "", 0, 0, 7}),
            "node rank 0 gave the order to start before it had passed the gang's table on");
}

TEST(PartWords, WhatTookTheRanksAlong) {
  EXPECT_EQ(say(RanksDiedWithSpawn{SpawnEnd::died}),
            "lockstep-spawn died, and this node's ranks ended with it");
  EXPECT_THAT(say(RanksDiedWithSpawn{SpawnEnd::container_removed}),
              StartsWith("the container had to be removed, and"));
  EXPECT_THAT(say(RanksDiedWithSpawn{SpawnEnd::container_gone}),
              StartsWith("the container was stopped or removed from outside, and"));
  EXPECT_EQ(say(RankServerDied{"the PMIx server died"}),
            "the PMIx server died, and this node's ranks were ended with it");
}

TEST(PartWords, ALeaseThatRanOut) {
  EXPECT_EQ(say(LeaseRanOut{seconds(60), false}),
            "no message from the launcher for 1m00s: its lease ran out (on_lost: after_fence)");
  EXPECT_EQ(say(LeaseRanOut{seconds(60), true}),
            "neither an agent nor the launcher was reachable for 1m00s: its lease ran out "
            "(on_lost: after_fence)");
}

TEST(PartWords, ARunnerThatDied) {
  EXPECT_EQ(say(RunnerDied{false, "", ""}), "the runner died without a final report");
  EXPECT_EQ(say(RunnerDied{true, "", "no memory"}),
            "the runner died without a final report while no agent watched; the end of its log: no "
            "memory");
  EXPECT_EQ(say(RunnerDied{false, "/home/a.1", ""}),
            "the runner died without a final report; the end of its log: its attempt directory was "
            "removed: /home/a.1");
}

TEST(PartWords, APartThatWasStoppedEarly) {
  EXPECT_EQ(say(StoppedEarly{false}), "stopped before its working directory was made");
  EXPECT_EQ(say(StoppedEarly{true}), "stopped before its runner was started");
}

TEST(PartWords, ADiskThatIsTaken) {
  EXPECT_EQ(say(DiskLimitReached{gibibytes(3), {}, gibibytes(2)}),
            "its files take 3.0 GiB of this node's disk, but its limit is 2.0 GiB (--disk-limit; "
            "lockstep.limits.disk in a job file)");
  EXPECT_EQ(say(DiskLimitReached{gibibytes(3), gibibytes(2), gibibytes(2)}),
            "its files take 3.0 GiB (2.0 GiB of it in files that were removed and are still open) "
            "of this node's disk, but its limit is 2.0 GiB (--disk-limit; lockstep.limits.disk in "
            "a job file)");
  EXPECT_EQ(say(DiskIsFull{mebibytes(10), gibibytes(100), gibibytes(60), {}}),
            "this node's disk is full (10.0 MiB of 100.0 GiB are free), and of all jobs here this "
            "job takes the most space, 60.0 GiB; write less, or ask for a node with more disk");
}

}  // namespace
}  // namespace lockstep::words
