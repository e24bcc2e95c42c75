// A node that is removed: for good, refused while it may run something, and told so when it comes
// back.

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/nodes/losses.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

struct RemoveNode : ::testing::Test {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");

  void remove(const std::string& name) {
    launcher.send(RemoveNodeInput{launcher.next_reply(), name, UserCaller{"ann"}});
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

TEST_F(RemoveNode, IsRefusedWhileItIsAlive) {
  const Error error = refused("n2");
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_THAT(error.message, HasSubstr("ALIVE"));
  EXPECT_EQ(refused("ghost").code, ErrorCode::not_found);
  EXPECT_TRUE(launcher.facts<NodeRemoved>().empty());
}

TEST_F(RemoveNode, IsRefusedWhileItHoldsAnAttempt) {
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

TEST_F(RemoveNode, IsNoNodeAnyMore) {
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

// Its labels went with the node, though the machine is the same.
TEST_F(RemoveNode, ItsMachineThatJoinsAgainHasItsLabels) {
  const Digest token = sha256("by hand");
  launcher.send(
      TokenInput{launcher.next_reply(), token, launcher.now + minutes(60), 10, UserCaller{"ann"}});
  launcher.expect_one<ReplyDone>();
  const auto join = [&](const std::string& name, const std::string& key, const std::string& id) {
    launcher.send(JoinInput{launcher.next_reply(), token, PublicKey(key), name, {"", id, {}}});
    launcher.take<ReplyJoined>();
    launcher.take<AllowNode>();
    launcher.drop_notices();
    return launcher.core->node_view(name)->labels;
  };
  const auto label = [&](const NodeLabels& set, const std::vector<std::string>& unset) {
    launcher.send(LabelInput{launcher.next_reply(), {"n7", set, unset}, UserCaller{"ann"}});
    launcher.expect_one<ReplyDone>();
    launcher.drop_notices();
  };
  const auto remove_n7 = [&] {
    remove("n7");
    launcher.take<ReplyDone>();
    launcher.take<RevokeNode>();
  };
  EXPECT_EQ(join("n7", "first", "machine-7"), NodeLabels{});
  label({{"rack", "7"}}, {});
  remove_n7();
  EXPECT_EQ(join("n8", "clone", "machine-7"), NodeLabels{}) << "cloned images share the id";
  EXPECT_EQ(join("n7", "second", "machine-7"), (NodeLabels{{"rack", "7"}}));
  remove_n7();
  EXPECT_EQ(join("n7", "third", "machine-9"), NodeLabels{}) << "another machine";
  remove_n7();
  EXPECT_EQ(join("n7", "fourth", "machine-7"), (NodeLabels{{"rack", "7"}}));
  label({}, {"rack"});
  remove_n7();
  EXPECT_EQ(join("n7", "fifth", "machine-7"), NodeLabels{}) << "what was removed stays removed";
}

TEST_F(RemoveNode, TellsTheAgentThatComesBack) {
  launcher.pass(seconds(5), {&n1});
  removed(n2, "n2");
  launcher.send_session(n2);
  RefuseSession told = launcher.expect_one<RefuseSession>();
  EXPECT_TRUE(told.removed);
  const auto* why = told.why.as<NodeWasRemoved>();
  ASSERT_NE(why, nullptr);
  EXPECT_EQ(why->node, "n2");
  EXPECT_EQ(why->by, "ann");
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

TEST_F(RemoveNode, FreesTheNameButNeverTheIdOrTheKey) {
  launcher.pass(seconds(5), {&n1});
  removed(n2, "n2");
  const FakeNode again = launcher.join("n2-new");
  EXPECT_GT(again.id, n2.id);
  launcher.send(JoinInput{launcher.next_reply(), sha256("token"), n2.key, "n2"});
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().code, ErrorCode::permission_denied);
  EXPECT_FALSE(launcher.core->node_with_key(n2.key).has_value());
}

// ---- `node revoke --now`: its key may be in wrong hands -----------------------------------------

struct RevokeNow : RemoveNode {
  void revoked(const FakeNode& node, const std::string& name) {
    launcher.send(RemoveNodeInput{launcher.next_reply(), name, UserCaller{"ann"}, true});
    launcher.take<AwaitLogs>();
    launcher.drop_notices();
    EXPECT_THAT(launcher.expect_one<ReplyDone>().message, HasSubstr("is removed"));
    EXPECT_EQ(launcher.expect_one<launcher::RevokeNode>().key, node.key);
  }
};

TEST_F(RevokeNow, OfANodeThatIsAliveCostsItsJobsNoRetry) {
  JobSpec spec = job_spec("both", 2);
  spec.retry.max = 0;
  const JobId job = launcher.submit(spec);
  const AttemptId id = attempt(job);
  launcher.prepared(n1, id);
  launcher.prepared(n2, id);
  launcher.drop_notices();
  FakeNode n3 = launcher.join("n3");
  ASSERT_EQ(launcher.liveness(n2), Liveness::alive);
  revoked(n2, "n2");
  const auto gone = launcher.facts<PartGone>();
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].node, n2.id);
  EXPECT_EQ(gone[0].why, Why(NodeRevoked{"ann"}));
  EXPECT_FALSE(launcher.core->node_view("n2").has_value());
  launcher.finished(n1, id, node_failure(Cause::canceled, "stopped"));
  launcher.take<AwaitLogs>();
  launcher.drop_notices();
  const JobView view = launcher.view(job);
  ASSERT_EQ(view.attempts.size(), 2U) << "it is tried on other nodes";
  const auto* again = view.attempts.at(0).why.as<RetriedAfter>();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->then, Why(UnchargedRetry{Uncharged::node_revoked}));
  const Job& known = *launcher.core->state().job(job);
  EXPECT_EQ(known.charged_retries, 0);
  EXPECT_EQ(known.uncharged_retries, 1);
}

TEST_F(RevokeNow, ClosesItToTheHolderOfTheKey) {
  const JobId job = launcher.submit(job_spec("one"));
  const AttemptId id = attempt(job);
  const FakeNode& holder = n1;
  ASSERT_EQ(launcher.placed_on(id).at(0), holder.id);
  revoked(holder, "n1");
  launcher.send(HeartbeatInput{holder.key, Heartbeat{holder.id, holder.session}});
  EXPECT_TRUE(launcher.expect_one<RefuseSession>().removed);
  launcher.restart();
  launcher.drop_notices();
  launcher.send(HeartbeatInput{holder.key, Heartbeat{holder.id, holder.session}});
  EXPECT_TRUE(launcher.expect_one<RefuseSession>().removed) << "a restart remembers it";
  JoinInput join{launcher.next_reply(), sha256("token"), holder.key, "again"};
  launcher.send(join);
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message, HasSubstr("was removed"));
}

TEST_F(RevokeNow, TakesNoResultOfAPartThatEndedThereBefore) {
  const JobId job = launcher.submit(job_spec("both", 2));
  const AttemptId id = attempt(job);
  launcher.prepared(n1, id);
  launcher.prepared(n2, id);
  launcher.finished(n2, id, node_exit({rank_exit(1)}));
  launcher.drop_notices();
  revoked(n2, "n2");
  EXPECT_EQ(launcher.facts<PartGone>().size(), 1U);
  EXPECT_TRUE(launcher.core->state().attempt(id)->doomed.has_value());
}

}  // namespace
}  // namespace lockstep::launcher
