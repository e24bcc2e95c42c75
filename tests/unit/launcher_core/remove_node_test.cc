// A node that is removed: for good, refused while it may run something, and told so when it comes
// back.

#include "tests/unit/launcher_core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

struct RemoveNode : ::testing::Test {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");

  void remove(const std::string& name) {
    launcher.send(RemoveNodeInput{launcher.next_reply(), name, "ann"});
    launcher.drop_notices();
  }
  Error refused(const std::string& name) {
    remove(name);
    const ReplyRefused reply = launcher.expect_one<ReplyRefused>();
    return make_error(reply.code, reply.message);
  }
  void removed(const FakeNode& node, const std::string& name) {
    remove(name);
    EXPECT_THAT(launcher.expect_one<ReplyDone>().message, HasSubstr("is removed"));
    EXPECT_EQ(launcher.expect_one<RevokeNode>().key, node.key);
  }
};

TEST_F(RemoveNode, is_refused_while_it_is_alive) {
  const Error error = refused("n2");
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_THAT(error.message, HasSubstr("ALIVE"));
  EXPECT_EQ(refused("ghost").code, ErrorCode::not_found);
  EXPECT_TRUE(launcher.facts<NodeRemoved>().empty());
}

TEST_F(RemoveNode, is_refused_while_it_holds_an_attempt) {
  JobSpec both = job_spec("both", 2);
  const JobId job = launcher.submit(both);
  launcher.pass(seconds(5), {&n1});
  ASSERT_EQ(launcher.liveness(n2), Liveness::unknown);
  const Error error = refused("n2");
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_THAT(error.message, HasSubstr("1 attempt (the first is both"));
  launcher.pass(seconds(10), {&n1});
  ASSERT_EQ(launcher.liveness(n2), Liveness::lost);
  removed(n2, "n2");
  EXPECT_EQ(launcher.view(job).attempts.at(0).parts.size(), 2U) << "history is kept, with names";
  EXPECT_EQ(launcher.view(job).attempts.at(0).parts.at(1).node_name, "n2");
}

TEST_F(RemoveNode, is_no_node_any_more) {
  launcher.pass(seconds(5), {&n1});
  removed(n2, "n2");
  EXPECT_EQ(launcher.core->node_views().size(), 1U);
  EXPECT_FALSE(launcher.core->node_view("n2").has_value());
  EXPECT_FALSE(launcher.core->node_with_key(n2.key).has_value());
  EXPECT_EQ(launcher.facts<NodeRemoved>().at(0).by, "ann");
  launcher.pass(seconds(30), {&n1});
  EXPECT_TRUE(launcher.facts<NodeLost>().empty()) << "nobody waits for it";
  remove("n2");
  EXPECT_THAT(launcher.expect_one<ReplyDone>().message, HasSubstr("is removed")) << "asked again";
  EXPECT_EQ(launcher.facts<NodeRemoved>().size(), 1U);
}

TEST_F(RemoveNode, tells_the_agent_that_comes_back) {
  launcher.pass(seconds(5), {&n1});
  removed(n2, "n2");
  launcher.send_session(n2);
  RefuseSession told = launcher.expect_one<RefuseSession>();
  EXPECT_TRUE(told.removed);
  EXPECT_THAT(told.reason, HasSubstr("node n2 was removed from this launcher by ann"));
  launcher.send(HeartbeatInput{n2.key, {n2.id, n2.session, 0, 0}});
  EXPECT_TRUE(launcher.expect_one<RefuseSession>().removed);
  launcher.restart();
  bool revoked = false;
  for (const Action& action : launcher.core->resume())
    if (const auto* revoke = std::get_if<RevokeNode>(&action)) revoked = revoke->key == n2.key;
  EXPECT_TRUE(revoked) << "also by the next launcher";
  launcher.send_session(n2);
  EXPECT_TRUE(launcher.expect_one<RefuseSession>().removed);
}

TEST_F(RemoveNode, frees_the_name_but_never_the_id_or_the_key) {
  launcher.pass(seconds(5), {&n1});
  removed(n2, "n2");
  const FakeNode again = launcher.join("n2-new");
  EXPECT_GT(again.id, n2.id);
  launcher.send(JoinInput{launcher.next_reply(), sha256("token"), n2.key, "n2"});
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().code, ErrorCode::permission_denied);
  EXPECT_FALSE(launcher.core->node_with_key(n2.key).has_value());
}

}  // namespace
}  // namespace lockstep::launcher
