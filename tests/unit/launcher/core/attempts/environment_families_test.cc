// What jobs that attempts submit, and the nodes that they run on, can do to an account's locks.
// Root of a node has the credentials of the attempts there.

#include "common/domain/why/nodes/losses.h"
#include "tests/unit/launcher/core/attempts/environment_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Families : Environments {
  SubmitInput request(const std::string& name, Caller caller) {
    SubmitInput input;
    input.reply = launcher.next_reply();
    input.spec = needing(numpy(), name, 2);
    input.caller = std::move(caller);
    return input;
  }
  AttemptId submit(const std::string& name, Caller caller = UserCaller{"ann"}) {
    launcher.send(request(name, std::move(caller)));
    const auto replies = launcher.take<ReplySubmitted>();
    for (const ReplyRefused& refused : launcher.take<ReplyRefused>())
      ADD_FAILURE() << refused.message;
    launcher.drop_notices();
    return replies.empty() ? AttemptId() : attempt(replies.front().job);
  }
  AttemptCaller of(const AttemptId& id) {
    const JobSpec& spec = launcher.core->state().job(id.job)->spec;
    return {id, spec.submitter, spec.project};
  }
  std::vector<EnvironmentLock> only(const std::string& lock) { return {{"py311", sha256(lock)}}; }
  void revoke(const std::string& node) {
    RemoveNodeInput input{launcher.next_reply(), node, UserCaller{"ann"}};
    input.now = true;
    launcher.send(input);
    launcher.take<ReplyDone>();
    launcher.take<RevokeNode>();
    launcher.take<AwaitLogs>();
    launcher.drop_notices();
  }
  std::vector<Why> refusals(const AttemptId& id) {
    std::vector<Why> said;
    const auto all = launcher.core->job_events(id.job, {});
    for (const JobEvent& event : all->events)
      if (event.what == "LockRefused") said.push_back(event.why);
    return said;
  }
};

TEST_F(Families, WhatOneSolvesIsNotTheAccounts) {
  const AttemptId parent = submit("parent");
  const AttemptId child = submit("child", of(parent));
  wants(n1, child);
  EXPECT_TRUE(plan(n1, child).solve);
  solves(n1, child, "made by the child's node");
  EXPECT_EQ(locks(n2, child), only("made by the child's node"));
  EXPECT_TRUE(locks(n2, parent).empty()) << "its own parent is a person's job";
  const AttemptId hers = submit("hers");
  EXPECT_TRUE(locks(n1, hers).empty());
  const AttemptId other = submit("other", of(hers));
  EXPECT_TRUE(locks(n2, other).empty()) << "of another family";
  launcher.restart();
  EXPECT_EQ(locks(n2, child), only("made by the child's node"));
}

TEST_F(Families, SolveOnce) {
  const AttemptId parent = submit("parent");
  const AttemptId child = submit("child", of(parent));
  wants(n1, child);
  solves(n1, child, "lock");
  EXPECT_EQ(locks(n2, submit("sibling", of(parent))), only("lock"));
  EXPECT_EQ(locks(n2, submit("grandchild", of(child))), only("lock"));
}

TEST_F(Families, StartWithTheLocksOfTheAccount) {
  const AttemptId parent = submit("parent");
  wants(n1, parent);
  solves(n1, parent, "lock");
  const AttemptId child = submit("child", of(parent));
  EXPECT_EQ(locks(n2, child), only("lock")) << "nothing is solved twice";
  EXPECT_EQ(plan(n2, child).generation, plan(n2, parent).generation);
  launcher.restart();
  EXPECT_EQ(locks(n2, child), only("lock"));
}

TEST_F(Families, DoNotRebuild) {
  const AttemptId parent = submit("parent");
  wants(n1, parent);
  solves(n1, parent, "lock");
  SubmitInput input = request("child", of(parent));
  input.rebuild = true;
  launcher.send(input);
  const ReplyRefused refused = launcher.expect_one<ReplyRefused>();
  EXPECT_EQ(refused.code, ErrorCode::permission_denied);
  EXPECT_THAT(refused.message, AllOf(HasSubstr("submitted by job 'parent'"),
                                     HasSubstr("leave out --rebuild"), HasSubstr("yourself")));
  launcher.drop_notices();
  EXPECT_TRUE(launcher.facts<EnvironmentReset>().empty());
  EXPECT_EQ(locks(n2, parent), only("lock"));
}

TEST_F(Families, AreForgottenWithTheirJobsThoughTheDefinitionHasAName) {
  create(called("torch", ""));
  const AttemptId parent = submit("parent");
  const AttemptId child = submit("child", of(parent));
  wants(n1, child);
  solves(n1, child, "lock");
  EXPECT_EQ(launcher.core->state().environments().size(), 2U);
  launcher.cancel(child.job);
  for (FakeNode* node : {&n1, &n2})
    launcher.finished(*node, child, node_failure(Cause::canceled, "canceled"));
  launcher.take<AwaitLogs>();
  launcher.send(DeleteInput{launcher.next_reply(), {child.job}, false, {}, UserCaller{"ann"}});
  launcher.take<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  EXPECT_EQ(launcher.core->state().environments().size(), 1U);
}

TEST_F(Families, KeepTheLocksOfEarlierJournals) {
  const AttemptId parent = submit("parent");
  const AttemptId child = submit("child", of(parent));
  const Digest definition = digest_of(numpy());
  State old = launcher.core->state();
  const std::string account = old.job(child.job)->spec.run_as;
  old.apply(launcher.now,
            EnvironmentLocked{definition, 0, {"py311", sha256("lock")}, child, n1.id, account, {}});
  const std::uint64_t family = old.job(child.job)->family;
  EXPECT_TRUE(old.environment({definition, account})->locks.empty());
  EXPECT_EQ(old.environment({definition, account, family})->locks.size(), 1U);
}

TEST_F(Families, LoseTheLocksOfANodeThatIsRevokedAsTheAccountDoes) {
  const AttemptId parent = submit("parent");
  const AttemptId child = submit("child", of(parent));
  JobSpec of_bob = needing(numpy("2"), "his", 2);
  of_bob.run_as = "bob";
  const AttemptId his = attempt(launcher.submit(of_bob));
  wants(n1, parent);
  solves(n1, parent, "by n1");
  wants(n1, child);
  solves(n1, child, "by n1 too");
  wants(n2, his);
  solves(n2, his, "by n2");
  const auto lock_count = [&] {
    std::size_t count = 0;
    for (const auto& [id, known] : launcher.core->state().environments())
      count += known.locks.size();
    return count;
  };
  ASSERT_EQ(lock_count(), 3U);
  revoke("n1");
  EXPECT_EQ(lock_count(), 1U) << "that of n2";
  const Environment& hers =
      *launcher.core->state().environment(*launcher.core->state().job(parent.job)->environment);
  EXPECT_TRUE(hers.locks.empty());
  EXPECT_NE(hers.generation, 0U) << "what was built of it is not used again";
  launcher.restart();
}

TEST_F(Families, APartAsksForOnePlatform) {
  const AttemptId id = submit("job");
  for (const char* invented : {"py1", "py2", "py3"}) {
    launcher.observe(n1, says(id, Step::wants_lock, invented));
    launcher.drop_notices();
    launcher.take<ReportRefused>();
    solves(n1, id, invented, invented);
    fails(n1, id, "no network", invented);
  }
  EXPECT_EQ(locks(n2, id), (std::vector<EnvironmentLock>{{"py1", sha256("py1")}}));
  EXPECT_EQ(launcher.facts<EnvironmentWanted>().size(), 1U);
  EXPECT_EQ(refusals(id), (std::vector<Why>{LockOfAnotherPlatform{"py2", "py1"}}));
  wants(n2, id);
  EXPECT_TRUE(plan(n2, id).solve);
}

TEST_F(Families, TheMostPlatformsAreSaidWhenTheyAreReached) {
  const AttemptId id = submit("job");
  const EnvironmentId& environment = *launcher.core->state().job(id.job)->environment;
  wants(n1, id);
  for (std::size_t i = 0; i < kMaxEnvironmentPlatforms; ++i)
    launcher.found(EnvironmentLocked{environment.definition,
                                     0,
                                     {"py" + std::to_string(i), sha256("lock")},
                                     id,
                                     n2.id,
                                     environment.account,
                                     0});
  solves(n1, id, "lock");
  ASSERT_EQ(refusals(id).size(), 1U);
  ASSERT_TRUE(refusals(id).front().is<NoRoomForLock>());
  EXPECT_EQ(refusals(id).front().as<NoRoomForLock>()->most, 64);
}

}  // namespace
}  // namespace lockstep::launcher
