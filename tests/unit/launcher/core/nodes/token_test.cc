// Join tokens: their bounds, who made them, and the end of their use.

#include "launcher/core/nodes/tokens.h"

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

class Tokens : public ::testing::Test {
 protected:
  std::string make(const std::string& secret, int uses, Duration valid) {
    launcher.send(TokenInput{launcher.next_reply(), sha256(secret), launcher.now + valid, uses,
                             UserCaller{"ann"}});
    const auto refused = launcher.take<ReplyRefused>();
    if (!refused.empty()) return refused.front().message;
    launcher.expect_one<ReplyDone>();
    return "";
  }
  std::string revoke(const std::string& id) {
    launcher.send(RevokeTokenInput{launcher.next_reply(), id, UserCaller{"ann"}});
    const auto refused = launcher.take<ReplyRefused>();
    return refused.empty() ? launcher.expect_one<ReplyDone>().message : refused.front().message;
  }

  TestLauncher launcher;
};

TEST_F(Tokens, ManyUsesAndLongTimesAreRefusedWithTheBounds) {
  const std::string bounds = "a join token may be used 1000 times at most, and for 30 days at most";
  EXPECT_EQ(make("a", 1'000, kMaxTokenValidFor), "");
  EXPECT_THAT(make("b", 1'001, minutes(1)), HasSubstr(bounds));
  EXPECT_THAT(make("c", 1, kMaxTokenValidFor + minutes(10)), HasSubstr(bounds));
  EXPECT_THAT(make("d", 0, minutes(1)), HasSubstr("at least one use"));
}

TEST_F(Tokens, AreKnownByWhoMadeThemAlsoAfterARestart) {
  ASSERT_EQ(make("a", 2, minutes(60)), "");
  launcher.restart();
  const Token& token = launcher.core->state().tokens().at(sha256("a"));
  EXPECT_EQ(token.by, "ann");
  EXPECT_NE(token.created, Instant());
}

TEST_F(Tokens, OneThatIsRevokedLetsNobodyInAndThoseWhoJoinedStay) {
  ASSERT_EQ(make("a", 5, minutes(60)), "");
  FakeNode n1 = launcher.join_with(sha256("a"), "n1", inventory());
  const std::string id = token_id(sha256("a"));
  EXPECT_EQ(revoke(id.substr(0, 6)),
            "token " + id +
                " is revoked; 1 node that joined with it stays: `lockstep node "
                "revoke` removes one");
  launcher.send(JoinInput{launcher.next_reply(), sha256("a"), PublicKey("another"), "n2"});
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message, HasSubstr("not known"));
  EXPECT_EQ(launcher.core->state().nodes().size(), 1U);
  EXPECT_THAT(revoke(id), HasSubstr("no token (any more)"));
  EXPECT_THAT(revoke(""), HasSubstr("no token")) << "the beginning of every id is no id";
}

TEST_F(Tokens, APriorityOfHighIsARight) {
  launcher.send(
      PrincipalInput{{},
                     AddUser{"sue", "sue", {}, {Role::submitter, std::string(kDefaultProject)}},
                     LauncherItself{}});
  launcher.take<ReplyDone>();
  launcher.drop_notices();
  JobSpec spec = job_spec("urgent");
  spec.queue.priority = Priority::high;
  const auto submit = [&] {
    launcher.send(SubmitInput{launcher.next_reply(), "s", spec, "", false, UserCaller{"sue"}});
    launcher.drop_notices();
    const auto refused = launcher.take<ReplyRefused>();
    launcher.take<ReplySubmitted>();
    return refused.empty() ? std::string() : refused.front().message;
  };
  EXPECT_THAT(submit(), HasSubstr("may not use the priority high: that needs the role priority"));
  launcher.send(
      PrincipalInput{{},
                     ChangeRole{"sue", {Role::priority, std::string(kDefaultProject)}, false},
                     LauncherItself{}});
  launcher.take<ReplyDone>();
  launcher.drop_notices();
  EXPECT_EQ(submit(), "");
}

// A step with it is no way around.
TEST_F(Tokens, OfAPipelineAStepsPriorityCountsToo) {
  launcher.send(
      PrincipalInput{{},
                     AddUser{"sue", "sue", {}, {Role::submitter, std::string(kDefaultProject)}},
                     LauncherItself{}});
  launcher.take<ReplyDone>();
  launcher.drop_notices();
  JobSpec spec;
  spec.name = "line";
  PipelineStep step;
  step.name = "train";
  step.spec = job_spec("");
  step.spec.queue.priority = Priority::high;
  PipelineSpec tasks;
  tasks.steps.push_back(step);
  spec.pipeline = tasks;
  launcher.send(SubmitInput{launcher.next_reply(), "s", spec, "", false, UserCaller{"sue"}});
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message, HasSubstr("the priority high"));
}

}  // namespace
}  // namespace lockstep::launcher
