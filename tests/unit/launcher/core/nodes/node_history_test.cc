// What is kept of the life of a node, and what the launcher's log is told of it.

#include "common/domain/why/jobs/events.h"
#include "common/domain/why/nodes/losses.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;

class NodeHistory : public ::testing::Test {
 protected:
  std::vector<NodeEvent> history(const FakeNode& node) {
    return launcher.core->node_view(std::to_string(node.id.value), true).value().history;
  }
  std::vector<std::string> words(const FakeNode& node) {
    std::vector<std::string> words;
    for (const NodeEvent& event : history(node)) words.push_back(event.what);
    return words;
  }
  void drain(bool drains) {
    launcher.send(DrainInput{launcher.next_reply(), "n1", drains, drains ? "new disk" : "", {}});
    launcher.expect_one<ReplyDone>();
    launcher.drop_notices();
  }

  TestLauncher launcher;
};

TEST_F(NodeHistory, ALostNodeThatReturnedIsStillKnownToHaveBeenLost) {
  FakeNode n1 = launcher.join("n1");
  launcher.pass(seconds(20));
  launcher.restart_agent(n1, {});
  launcher.drop_notices();
  launcher.reboot(n1);
  launcher.drop_notices();
  EXPECT_THAT(words(n1), ElementsAre("Joined", "AgentStarted", "Lost", "Returned", "Rebooted"));
  EXPECT_TRUE(history(n1)[2].why.is<NodeNotHeard>());
  launcher.restart();
  EXPECT_THAT(words(n1), ElementsAre("Joined", "AgentStarted", "Lost", "Returned", "Rebooted"));
  EXPECT_TRUE(launcher.core->node_view("n1")->history.empty()) << "only when it is asked for";
}

TEST_F(NodeHistory, DrainsAndLabelsAreInItToo) {
  FakeNode n1 = launcher.join("n1");
  drain(true);
  drain(false);
  launcher.send(LabelInput{launcher.next_reply(), {"n1", {{"rack", "7"}}, {}}, {}});
  launcher.expect_one<ReplyDone>();
  launcher.drop_notices();
  EXPECT_THAT(words(n1), ElementsAre("Joined", "AgentStarted", "Drained", "Resumed", "Labelled"));
  EXPECT_EQ(history(n1)[2].why, told("new disk"));
  EXPECT_EQ(history(n1)[4].why, told("rack=7"));
}

TEST_F(NodeHistory, IsBounded) {
  FakeNode n1 = launcher.join("n1");
  for (std::size_t i = 0; i < kMaxNodeEvents; ++i) drain(i % 2 == 0);
  EXPECT_EQ(history(n1).size(), kMaxNodeEvents);
  EXPECT_NE(words(n1).front(), "Joined");
}

TEST_F(NodeHistory, HasTheVersionOfTheAgentAndKeepsItWhileItIsLost) {
  FakeNode n1 = launcher.join("n1");
  SessionOpen open = launcher.opening(n1);
  open.version = "0.9.1";
  launcher.send(SessionInput{n1.key, open});
  launcher.take<AcceptSession>();
  launcher.drop_notices();
  open.session = SessionId(77);
  launcher.send(SessionInput{n1.key, open});
  launcher.take<AcceptSession>();
  launcher.drop_notices();
  launcher.pass(seconds(20));
  launcher.restart();
  EXPECT_EQ(launcher.core->node_view("n1")->agent_version, "0.9.1");
  EXPECT_EQ(history(n1).at(2).why, Why(AgentHasVersion{"0.9.1"}));
}

// What the shell writes into the launcher's log: each change once.
TEST(NodeNewsTest, IsToldWhenANodeFallsSilentIsLostAndIsHeardAgain) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  std::vector<NodeNews> news;
  const auto step = [&](const Input& input) {
    for (NodeNews& one : launcher.core->handle(launcher.now, input).news)
      news.push_back(std::move(one));
  };
  Core copy(launcher.config);  // takes steps of its own
  for (const StampedFact& fact : launcher.all_facts()) copy.replay(fact);
  copy.recovered(launcher.now);
  launcher.core.emplace(std::move(copy));
  step(SessionInput{n1.key, launcher.opening(n1)});
  for (int i = 0; i < 80; ++i) {
    launcher.now = launcher.now + seconds(1);
    step(TickInput{});
  }
  ASSERT_EQ(news.size(), 2U);
  EXPECT_EQ(news[0].name, "n1");
  EXPECT_EQ(news[0].liveness, Liveness::unknown);
  EXPECT_EQ(news[1].liveness, Liveness::lost);
  EXPECT_TRUE(news[1].why.is<NodeNotHeard>());
  step(SessionInput{n1.key, launcher.opening(n1)});
  ASSERT_EQ(news.size(), 3U);
  EXPECT_EQ(news[2].liveness, Liveness::alive);
  launcher.restart();  // back to the facts that the fixture knows
}

}  // namespace
}  // namespace lockstep::launcher
