// Tokens, joins, names, drain.

#include "tests/unit/launcher_core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

struct Nodes : ::testing::Test {
  TestLauncher launcher;
  const Digest secret = sha256("another token");

  void make_token(int uses, Duration valid = minutes(60)) {
    launcher.send(TokenInput{launcher.next_reply(), secret, launcher.now + valid, uses});
    launcher.expect_one<ReplyDone>();
  }
  void join(const std::string& key, const std::string& name) {
    launcher.send(JoinInput{launcher.next_reply(), secret, PublicKey(key), name});
  }
  NodeId joined() {
    launcher.expect_one<AllowNode>();
    return launcher.expect_one<ReplyJoined>().node;
  }
};

TEST_F(Nodes, an_unknown_token_is_refused) {
  join("k1", "n1");
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().code, ErrorCode::permission_denied);
}

TEST_F(Nodes, an_expired_token_is_refused) {
  make_token(1, minutes(1));
  launcher.tick(minutes(2));
  join("k1", "n1");
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message, HasSubstr("expired"));
}

TEST_F(Nodes, a_token_is_used_only_as_often_as_it_allows) {
  make_token(2);
  join("k1", "n");
  const NodeId first = joined();
  join("k2", "n");
  const NodeId second = joined();
  EXPECT_NE(first, second);
  join("k3", "n");
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message, HasSubstr("used 2 times"));
}

TEST_F(Nodes, joining_again_with_the_same_key_gives_the_same_node_even_when_the_token_is_used_up) {
  make_token(1);
  join("k1", "n1");
  const NodeId first = joined();
  join("k1", "n1");
  EXPECT_EQ(joined(), first);
  EXPECT_EQ(launcher.facts<NodeJoined>().size(), 1U);
}

TEST_F(Nodes, names_are_unique_and_can_stand_in_a_path) {
  make_token(4);
  join("k1", "gpu/box");
  joined();
  join("k2", "gpu/box");
  joined();
  join("k3", "gpu/box");
  joined();
  join("k4", "12");
  joined();
  const auto facts = launcher.facts<NodeJoined>();
  EXPECT_EQ(facts[0].name, "gpu-box");
  EXPECT_EQ(facts[1].name, "gpu-box-2");
  EXPECT_EQ(facts[2].name, "gpu-box-3");
  EXPECT_EQ(facts[3].name, "node12") << "a number is an id";
}

TEST_F(Nodes, are_found_by_name_id_and_key) {
  FakeNode n1 = launcher.join("n1");
  EXPECT_EQ(launcher.core->node_view("n1").value().id, n1.id);
  EXPECT_EQ(launcher.core->node_view("1").value().id, n1.id);
  EXPECT_EQ(launcher.core->node_with_key(n1.key), n1.id);
  EXPECT_FALSE(launcher.core->node_view("n2").has_value());
  EXPECT_FALSE(launcher.core->node_with_key(PublicKey("stranger")).has_value());
}

TEST_F(Nodes, a_token_without_uses_is_refused) {
  launcher.send(TokenInput{launcher.next_reply(), secret, launcher.now + minutes(1), 0});
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().code, ErrorCode::invalid_argument);
}

TEST_F(Nodes, draining_twice_is_one_fact_and_lets_running_work_end) {
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  for (int i = 0; i < 2; ++i) {
    launcher.send(DrainInput{launcher.next_reply(), "n1", true, "disk"});
    EXPECT_THAT(launcher.expect_one<ReplyDone>().message, HasSubstr("1 attempt on it may still"));
  }
  EXPECT_EQ(launcher.facts<NodeDrainChanged>().size(), 1U);
  EXPECT_TRUE(launcher.core->node_view("n1").value().draining);
  launcher.run_solo(n1, attempt(job), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST_F(Nodes, draining_an_unknown_node_is_refused) {
  launcher.send(DrainInput{launcher.next_reply(), "ghost", true, ""});
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace lockstep::launcher
