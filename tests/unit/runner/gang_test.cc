// Two real runners as one gang on loopback, each with an attempt directory of its own.

#include <gtest/gtest.h>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/parts.h"
#include "tests/unit/runner/attempt.h"

namespace lockstep::runner::testing {
namespace {

// A launcher's part for gangs: prepare both, then hand out the table.
class GangTest : public ::testing::Test {
 protected:
  void start(Distribution::Kind kind, const Command& command) {
    GangTable gang;
    std::vector<FakeAgent> agents;
    for (int i = 0; i < 2; ++i) {
      auto& assignment = nodes_[i].assignment;
      assignment.solo = false;
      assignment.phase = WantedPhase::prepare;
      assignment.node_rank = i;
      assignment.spec.resources.instance_count = 2;
      assignment.spec.distribution = {kind, 2};
      assignment.spec.command = command;
      nodes_[i].start();
    }
    for (int i = 0; i < 2; ++i) {
      agents.emplace_back(nodes_[i]);
      const auto report = agents[i].report_in(PartState::prepared);
      ASSERT_TRUE(report) << nodes_[i].runner_log();
      GangMember member;
      member.node = NodeId(static_cast<std::uint64_t>(i + 1));
      member.hostname = "n" + std::to_string(i);
      member.address = "127.0.0.1";
      if (on_two_hosts_) member.host_id = "host" + std::to_string(i);
      member.runner_port = report->runner_port;
      member.runner_key = report->runner_key;
      gang.members.push_back(member);
      if (i == 0) gang.master_port = report->master_port;
    }
    EXPECT_EQ(gang.master_port > 0, has_master_port(nodes_[0].assignment.spec.distribution.kind));
    for (int i = 0; i < 2; ++i) {
      auto& assignment = nodes_[i].assignment;
      assignment.phase = WantedPhase::run;
      if (!by_tree_ || i == 0) assignment.gang = gang;
      if (by_tree_) assignment.share = share_of(gang, i, kGangTreeRadix, named_);
      if (by_tree_ && named_ == Digest{})
        assignment.share->digest = digest_of(assignment.attempt, gang);
      agents[i].send(assignment);
    }
  }
  void wait() {
    for (auto& node : nodes_) ASSERT_EQ(node.wait(), 0) << node.runner_log();
  }

  Attempt nodes_[2];
  bool by_tree_ = false;  // the second node is told its share of the table alone
  Digest named_;          // the digest that both are told; zeros: the table's
  bool on_two_hosts_ = false;
};

TEST_F(GangTest, TwoNodesRunOnLoopback) {
  start(Distribution::Kind::none, ShellCommand{"echo $LOCKSTEP_RANK of $LOCKSTEP_WORLD_SIZE"});
  wait();
  for (auto& node : nodes_) EXPECT_EQ(node.report().cause, Cause::completed);
  EXPECT_EQ(nodes_[0].out(1), "1 of 4\n");
  EXPECT_EQ(nodes_[1].out(3), "3 of 4\n");
}

TEST_F(GangTest, ANodeThatWasToldAShareHasTheWholeTableWhenItsRanksStart) {
  by_tree_ = true;
  start(
      Distribution::Kind::pytorch,
      ShellCommand{"echo $AZ_BATCH_NODE_LIST $LOCKSTEP_RANK of $LOCKSTEP_WORLD_SIZE $MASTER_ADDR"});
  wait();
  for (auto& node : nodes_) EXPECT_EQ(node.report().cause, Cause::completed) << node.runner_log();
  EXPECT_EQ(nodes_[1].out(3), "127.0.0.1;127.0.0.1 3 of 4 127.0.0.1\n");
}

TEST_F(GangTest, ATableThatTheLauncherDidNotNameStartsNoRank) {
  by_tree_ = true;
  named_ = sha256("another table");
  start(Distribution::Kind::none, ShellCommand{"echo ran"});
  wait();
  EXPECT_EQ(nodes_[1].report().cause, Cause::start_failed);
  EXPECT_EQ(nodes_[1].report().why, Why(GangTableRefused{0, TableFault::altered, "", 0, 0, 2}));
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(nodes_[rank / 2].out(rank).find("ran"), std::string::npos) << rank;
}

TEST_F(GangTest, TheNetworkBetweenTwoHostsIsProbedFirst) {
  on_two_hosts_ = true;
  start(Distribution::Kind::pytorch, ShellCommand{"echo $RANK at $MASTER_ADDR:$MASTER_PORT"});
  wait();
  for (auto& node : nodes_) {
    EXPECT_EQ(node.report().cause, Cause::completed) << log_text(node.report().why);
    EXPECT_NE(node.runner_log().find("this node uses "), std::string::npos) << node.runner_log();
  }
  EXPECT_EQ(nodes_[0].out(1).substr(1), nodes_[1].out(3).substr(1)) << "one address for all";
}

// The order to start and the end of the probe come at once: the core of the second node has not
// heard of the one when the other is there.
TEST_F(GangTest, AProbeThatIsOffEndsForWhoGotTheTableAMomentAgo) {
  on_two_hosts_ = by_tree_ = true;
  for (auto& node : nodes_) node.runner_variables["LOCKSTEP_PROBE"] = "off";
  start(Distribution::Kind::pytorch, ShellCommand{"echo $RANK at $MASTER_ADDR"});
  wait();
  for (auto& node : nodes_) {
    EXPECT_EQ(node.report().cause, Cause::completed) << log_text(node.report().why);
    EXPECT_EQ(node.runner_log().find("this node uses "), std::string::npos) << node.runner_log();
  }
  EXPECT_EQ(nodes_[1].out(3), "3 at 127.0.0.1\n");
}

TEST_F(GangTest, ARankThatFailsEndsTheOtherNodeToo) {
  start(Distribution::Kind::pytorch,
        ShellCommand{"trap '' TERM; [ $RANK = 3 ] && exit 9; while :; do sleep 1; done"});
  wait();
  EXPECT_EQ(nodes_[1].report().cause, Cause::exit_code);
  EXPECT_EQ(nodes_[1].report().first_failed_rank, 3);
  EXPECT_EQ(nodes_[0].report().cause, Cause::canceled);
  for (const auto& rank : nodes_[0].report().ranks) EXPECT_TRUE(rank.terminated_by_us);
}

TEST_F(GangTest, MpiRanksOfTwoNodesAreOneWorld) {
  const std::string program = LOCKSTEP_RANK_PROGRAMS "/mpi_hello";
  if (!io::exists(program)) GTEST_SKIP() << "needs the target rank_programs (Open MPI)";
  start(Distribution::Kind::mpi, Argv{{program, "4", "1"}});
  wait();
  for (auto& node : nodes_) EXPECT_EQ(node.report().cause, Cause::completed) << node.runner_log();
  EXPECT_NE(nodes_[1].out(3).find("rank 3 of 4"), std::string::npos) << nodes_[1].err(3);
}

}  // namespace
}  // namespace lockstep::runner::testing
