// Tokens, joins, names, approval, drain.

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST_F(Nodes, AnUnknownTokenIsRefused) {
  join("k1", "n1");
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().code, ErrorCode::permission_denied);
}

TEST_F(Nodes, AnExpiredTokenIsRefused) {
  make_token(1, minutes(1));
  launcher.tick(minutes(2));
  join("k1", "n1");
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message, HasSubstr("expired"));
}

TEST_F(Nodes, ATokenIsUsedOnlyAsOftenAsItAllows) {
  make_token(2);
  join("k1", "n");
  const NodeId first = joined();
  join("k2", "n");
  const NodeId second = joined();
  EXPECT_NE(first, second);
  join("k3", "n");
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message, HasSubstr("used 2 times"));
}

TEST_F(Nodes, JoiningAgainWithTheSameKeyGivesTheSameNodeEvenWhenTheTokenIsUsedUp) {
  make_token(1);
  join("k1", "n1");
  const NodeId first = joined();
  join("k1", "n1");
  EXPECT_EQ(joined(), first);
  EXPECT_EQ(launcher.facts<NodeJoined>().size(), 1U);
}

TEST_F(Nodes, NamesAreUniqueAndCanStandInAPath) {
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

TEST_F(Nodes, AreFoundByNameIdAndKey) {
  FakeNode n1 = launcher.join("n1");
  EXPECT_EQ(launcher.core->node_view("n1").value().id, n1.id);
  EXPECT_EQ(launcher.core->node_view("1").value().id, n1.id);
  EXPECT_EQ(launcher.core->node_with_key(n1.key), n1.id);
  EXPECT_FALSE(launcher.core->node_view("n2").has_value());
  EXPECT_FALSE(launcher.core->node_with_key(PublicKey("stranger")).has_value());
}

TEST_F(Nodes, ATokenWithoutUsesIsRefused) {
  launcher.send(TokenInput{launcher.next_reply(), secret, launcher.now + minutes(1), 0});
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().code, ErrorCode::invalid_argument);
}

TEST_F(Nodes, DrainingTwiceIsOneFactAndLetsRunningWorkEnd) {
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

TEST_F(Nodes, DrainingAnUnknownNodeIsRefused) {
  launcher.send(DrainInput{launcher.next_reply(), "ghost", true, ""});
  EXPECT_EQ(launcher.expect_one<ReplyRefused>().code, ErrorCode::not_found);
}

// ---- approval ----------------------------------------------------------------------------------

struct Approvals : ::testing::Test {
  static CoreConfig approving() {
    CoreConfig config;
    config.approve_nodes = true;
    return config;
  }
  static std::string approve(TestLauncher& launcher, const std::string& node,
                             const Caller& caller = {}) {
    launcher.send(ApproveNodeInput{launcher.next_reply(), node, caller});
    launcher.drop_notices();
    const auto refused = launcher.take<ReplyRefused>();
    return refused.empty() ? launcher.expect_one<ReplyDone>().message : refused.front().message;
  }
  // Joins by a token that says `approval`.
  static FakeNode join_by(TestLauncher& launcher, Approval approval, const std::string& name) {
    const Digest secret = sha256("token of " + name);
    TokenInput token{launcher.next_reply(), secret, launcher.now + minutes(60), 1};
    token.approval = approval;
    launcher.send(token);
    launcher.expect_one<ReplyDone>();
    FakeNode node;
    node.key = PublicKey("key-of-" + name);
    node.session = SessionId(1'000 + launcher.core->state().nodes().size());
    node.inventory = inventory();
    launcher.send(JoinInput{launcher.next_reply(), secret, node.key, name});
    node.id = launcher.expect_one<ReplyJoined>().node;
    launcher.expect_one<AllowNode>();
    launcher.drop_notices();
    launcher.open(node);
    launcher.drop_notices();
    return node;
  }
};

TEST_F(Approvals, ANodeThatWaitsIsShownAndGetsNoWork) {
  TestLauncher launcher(approving());
  const FakeNode n1 = launcher.join("n1");
  const NodeView view = launcher.core->node_view("n1").value();
  EXPECT_TRUE(view.waits_for_approval);
  EXPECT_EQ(view.liveness, Liveness::alive);
  const JobId job = launcher.submit(job_spec("job"));
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  const std::string why =
      "n1 waits for approval: an admin approves it with `lockstep node approve n1`";
  EXPECT_THAT(launcher.view(job).reason, HasSubstr(why));
  EXPECT_THAT(launcher.explain(job).lines, ::testing::Contains(HasSubstr(why)));
  EXPECT_TRUE(launcher.core->desired_for(n1.id).assignments.empty());
  EXPECT_TRUE(launcher.core->trees_of(n1.id).empty());
  EXPECT_EQ(approve(launcher, "n1"), "node n1 is approved");
  EXPECT_TRUE(launcher.assigned(n1, attempt(job)));
  EXPECT_FALSE(launcher.core->node_view("n1").value().waits_for_approval);
}

TEST_F(Approvals, IsOneFactHoweverOftenItIsAskedFor) {
  TestLauncher launcher(approving());
  launcher.join("n1");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(approve(launcher, "n1"), "node n1 is approved");
  EXPECT_EQ(launcher.facts<NodeApproved>().size(), 1U);
  EXPECT_THAT(approve(launcher, "ghost"), HasSubstr("there is no node 'ghost'"));
}

TEST_F(Approvals, ResumingOrANewSessionDoesNotStandForIt) {
  TestLauncher launcher(approving());
  FakeNode n1 = launcher.join("n1");
  for (const bool drain : {true, false}) {
    launcher.send(DrainInput{launcher.next_reply(), "n1", drain, ""});
    const std::string message = launcher.expect_one<ReplyDone>().message;
    const char* said = drain ? "is drained" : "gets no work before an admin approves it";
    EXPECT_THAT(message, HasSubstr(said));
  }
  launcher.restart_agent(n1, {});
  launcher.reboot(n1);
  launcher.drop_notices();
  EXPECT_TRUE(launcher.core->node_view("n1").value().waits_for_approval);
  launcher.restart();
  EXPECT_TRUE(launcher.core->node_view("n1").value().waits_for_approval) << "the journal knows it";
}

TEST_F(Approvals, OnlyAnAdminGivesIt) {
  TestLauncher launcher(approving());
  launcher.join("n1");
  launcher.send(PrincipalInput{{}, AddUser{"olga", "", {}, {Role::operator_, ""}}});
  launcher.expect_one<ReplyDone>();
  EXPECT_THAT(approve(launcher, "n1", UserCaller{"olga"}), HasSubstr("may not admit nodes"));
  EXPECT_THAT(approve(launcher, "n1", NodeCaller{NodeId(1)}), HasSubstr("may not admit nodes"));
  EXPECT_EQ(approve(launcher, "n1", UserCaller{"ada"}), "node n1 is approved");
}

TEST_F(Approvals, ATokenCanAskForItOrWaiveIt) {
  TestLauncher launcher;
  const auto waits = [](TestLauncher& of, const std::string& name) {
    return of.core->node_view(name).value().waits_for_approval;
  };
  join_by(launcher, Approval::required, "asks");
  join_by(launcher, Approval::as_configured, "default");
  EXPECT_TRUE(waits(launcher, "asks"));
  EXPECT_FALSE(waits(launcher, "default"));
  TestLauncher strict(approving());
  join_by(strict, Approval::waived, "local-0");
  join_by(strict, Approval::as_configured, "default");
  EXPECT_FALSE(waits(strict, "local-0")) << "`lockstep up` starts these itself";
  EXPECT_TRUE(waits(strict, "default"));
}

TEST_F(Approvals, NodesOfEarlierJournalsNeedNone) {
  State state;
  state.apply({1}, NodeJoined{NodeId(1), "n1", PublicKey("k"), sha256("t")});
  EXPECT_FALSE(state.nodes().at(NodeId(1)).waits_for_approval);
}

TEST(LaunchersAccount, IsGivenToOthersWithAWarning) {
  CoreConfig config;
  config.account = "lockstep";
  TestLauncher launcher(config);
  const auto said = [&](PrincipalInput::Ask ask) {
    launcher.send(PrincipalInput{{}, std::move(ask)});
    return launcher.expect_one<ReplyDone>().message;
  };
  const std::string warning = "Warning: lockstep is the account that this launcher runs as";
  EXPECT_THAT(said(AddUser{"bob", "lockstep", {}, {Role::submitter, "default"}}),
              HasSubstr(warning));
  EXPECT_THAT(said(SetAccount{"bob", "bob"}), Not(HasSubstr("Warning")));
  EXPECT_THAT(said(SetAccount{"bob", "lockstep"}), HasSubstr("jobs of bob can read and change"));
}

}  // namespace
}  // namespace lockstep::launcher
