// A node that cannot solve passes it on, and an attempt ends only when all of them could not.

#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/parts.h"
#include "launcher/state/compact.h"
#include "tests/unit/launcher/core/attempts/environment_fixture.h"

namespace lockstep::launcher {
namespace {

struct Solvers : Environments {
  AttemptId place(int nodes, const std::string& name = "job") {
    JobSpec spec = needing(numpy(), name, nodes);
    spec.retry.max = 0;
    return attempt(launcher.submit(spec));
  }
  bool solves_at_last(const FakeNode& node, const AttemptId& id) {
    return plan(node, id).solve && !plan(node, id).others_may_solve;
  }
  bool may_pass_on(const FakeNode& node, const AttemptId& id) {
    return plan(node, id).solve && plan(node, id).others_may_solve;
  }
  // The nodes whose locks were refused, as `lockstep job events` shows it.
  std::vector<std::string> refusals(const AttemptId& id) {
    std::vector<std::string> nodes;
    const auto all = launcher.core->job_events(id.job, {});
    for (const JobEvent& event : all->events)
      if (event.what == "LockRefused") nodes.push_back(event.node_name);
    return nodes;
  }
  // Of an attempt that a node ended as a whole.
  NodeFailed end_of(const AttemptId& id) {
    launcher.take<AwaitLogs>();
    launcher.drop_notices();
    Why why = launcher.view(id.job).report.value_or(ExitReport{}).why;
    if (const auto* more = why.as<EndedWith>()) why = Why(more->end);
    const auto* failed = why.as<NodeFailed>();
    return failed == nullptr ? NodeFailed{} : *failed;
  }
};

TEST_F(Solvers, OfOneNodeTheFailureIsTheJobs) {
  const AttemptId id = place(1);
  FakeNode& node = launcher.placed_on(id).at(0) == n1.id ? n1 : n2;
  wants(node, id);
  EXPECT_TRUE(solves_at_last(node, id));
}

TEST_F(Solvers, TheNextOneSolvesWhatTheFirstCouldNot) {
  const AttemptId id = place(2);
  wants(n1, id);
  EXPECT_TRUE(may_pass_on(n1, id)) << "n2 has not asked yet";
  wants(n2, id);
  EXPECT_TRUE(may_pass_on(n1, id));
  fails(n1, id, "no network");
  EXPECT_FALSE(plan(n1, id).solve);
  EXPECT_TRUE(solves_at_last(n2, id));
  solves(n2, id, "lock");
  EXPECT_EQ(locks(n1, id), (std::vector<EnvironmentLock>{{"py311", sha256("lock")}}));
  EXPECT_EQ(launcher.view(id.job).attempts.size(), 1U);
}

TEST_F(Solvers, ALockOfANodeThatWasNotAskedIsRefusedAndNotedOnce) {
  const AttemptId id = place(2);
  wants(n1, id);
  solves(n2, id, "foreign");
  EXPECT_TRUE(locks(n1, id).empty()) << "n2 did not even ask";
  wants(n2, id);
  ASSERT_TRUE(plan(n1, id).solve);
  ASSERT_FALSE(plan(n2, id).solve);
  solves(n2, id, "foreign");
  solves(n2, id, "foreign");
  EXPECT_TRUE(launcher.facts<EnvironmentLocked>().empty());
  EXPECT_EQ(refusals(id), std::vector<std::string>{"n2"});
  EXPECT_TRUE(plan(n1, id).solve) << "it goes on";
  solves(n1, id, "lock");
  EXPECT_EQ(locks(n2, id), (std::vector<EnvironmentLock>{{"py311", sha256("lock")}}));
  EXPECT_EQ(refusals(id), std::vector<std::string>{"n2"});
  EXPECT_EQ(audited, std::vector<NodeId>{n2.id});
}

TEST_F(Solvers, ALockIsRefusedFromWhoWasAskedForAnotherPlatformOrPassedItOn) {
  const AttemptId id = place(2);
  wants(n1, id, "py311");
  wants(n2, id, "py312");
  ASSERT_TRUE(plan(n2, id).solve);
  solves(n2, id, "foreign", "py311");
  EXPECT_EQ(refusals(id), std::vector<std::string>{"n2"});
  EXPECT_TRUE(locks(n1, id).empty());
  solves(n2, id, "own", "py312");
  EXPECT_EQ(locks(n1, id), (std::vector<EnvironmentLock>{{"py312", sha256("own")}}));

  const AttemptId other = attempt(launcher.submit(needing(numpy("2"), "other", 2)));
  wants(n1, other);
  wants(n2, other);
  fails(n1, other, "no network");
  ASSERT_TRUE(plan(n2, other).solve);
  solves(n1, other, "late");
  EXPECT_EQ(refusals(other), std::vector<std::string>{"n1"});
  EXPECT_TRUE(locks(n2, other).empty());
}

TEST_F(Solvers, ALockThatIsKnownIsNotReplaced) {
  const AttemptId id = place(2);
  wants(n1, id);
  solves(n1, id, "lock");
  solves(n1, id, "lock");
  EXPECT_TRUE(refusals(id).empty()) << "a copy";
  solves(n2, id, "foreign");
  EXPECT_EQ(refusals(id), std::vector<std::string>{"n2"});
  EXPECT_EQ(locks(n1, id), (std::vector<EnvironmentLock>{{"py311", sha256("lock")}}));
}

TEST_F(Solvers, AViewSaysWhichNodeSolves) {
  const AttemptId id = place(2);
  const auto said = [&](const AttemptId& of, std::size_t rank) {
    const auto environment = launcher.view(of.job).attempts.at(0).parts.at(rank).environment;
    return environment->why ? log_text(environment->why) : environment->how;
  };
  wants(n2, id);
  wants(n1, id);
  EXPECT_EQ(said(id, 1), "this node solves it");
  EXPECT_EQ(said(id, 0), "node n2 solves it");
  const AttemptId other = place(1, "other");
  wants(launcher.placed_on(other).at(0) == n1.id ? n1 : n2, other);
  EXPECT_EQ(said(other, 0), "node n2 solves it for job 'job'");
  fails(n2, id, "no network");
  EXPECT_EQ(said(id, 1), "no network");
  EXPECT_EQ(said(id, 0), "this node solves it");
}

TEST_F(Solvers, ALauncherThatStartsAnewKnowsWhoFailed) {
  const AttemptId id = place(2);
  wants(n1, id);
  wants(n2, id);
  fails(n1, id, "no network");
  launcher.restart();
  EXPECT_FALSE(plan(n1, id).solve);
  EXPECT_TRUE(solves_at_last(n2, id));
}

TEST_F(Solvers, BothAreToldWhenItIsPassedOn) {
  const AttemptId id = place(2);
  wants(n1, id);
  wants(n2, id);
  PartReport made = says(id, Step::not_solved);
  launcher.observe(n1, made);
  EXPECT_EQ(launcher.take<SendDesired>().size(), 2U);
  launcher.drop_notices();
}

TEST_F(Solvers, WhoHasNotAskedYetIsWaitedFor) {
  const AttemptId id = place(2);
  wants(n1, id);
  fails(n1, id, "no network");
  EXPECT_FALSE(plan(n1, id).solve);
  wants(n2, id);
  EXPECT_TRUE(solves_at_last(n2, id));
}

TEST_F(Solvers, WhenAllCouldNotTheFirstTriesAgainAndItsFailureNamesTheOthers) {
  const AttemptId id = place(2);
  wants(n2, id);
  wants(n1, id);
  EXPECT_TRUE(may_pass_on(n2, id));
  fails(n2, id, "n2 has no network");
  EXPECT_TRUE(solves_at_last(n1, id));
  // Its word was on the way when that became so.
  fails(n1, id, std::string(5'000, 'x'));
  EXPECT_FALSE(plan(n1, id).solve);
  EXPECT_TRUE(solves_at_last(n2, id));
  launcher.finished(n2, id, node_failure(Cause::start_failed, "n2 has no network still"));
  launcher.finished(n1, id, node_failure(Cause::canceled, "canceled"));
  const NodeFailed failed = end_of(id);
  EXPECT_EQ(failed.node, "n2");
  EXPECT_EQ(failed.cause, Cause::start_failed);
  EXPECT_EQ(failed.why, told("n2 has no network still"));
  ASSERT_EQ(failed.before.size(), 1U);
  EXPECT_EQ(failed.before[0].node, "n1");
  EXPECT_LE(failed.before[0].why.as<Told>()->text.size(), kMaxNotSolvedBytes + 3) << "it is cut";
  EXPECT_EQ(failed.more_before, 0);
}

TEST_F(Solvers, AReasonOfANodeIsBoundedWhateverItIs) {
  const AttemptId id = place(2);
  wants(n1, id);
  wants(n2, id);
  const auto fails_for = [&](FakeNode& node, std::size_t bytes) {
    PartReport made = says(id, EnvironmentReport::Step::not_solved, "py311");
    made.environment->why =
        EnvironmentFailedBefore{"environment 1", {}, JobId("j"), std::string(bytes, 'x')};
    launcher.observe(node, made);
    const Why kept = launcher.facts<EnvironmentNotSolved>().back().why;
    launcher.drop_notices();
    launcher.tick(milliseconds(1));
    return kept;
  };
  EXPECT_TRUE(fails_for(n1, 100).is<EnvironmentFailedBefore>());
  EXPECT_LE(log_text(fails_for(n2, 100'000)).size(), kMaxNotSolvedBytes + 3);
}

TEST_F(Solvers, ManyNodesAreNotAllNamed) {
  std::vector<FakeNode> nodes{n1, n2};
  for (int i = 3; i <= 6; ++i) nodes.push_back(launcher.join("n" + std::to_string(i)));
  const AttemptId id = place(6);
  for (FakeNode& node : nodes) wants(node, id);
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    EXPECT_TRUE(may_pass_on(nodes[i], id)) << i;
    fails(nodes[i], id, "why");
  }
  EXPECT_TRUE(solves_at_last(nodes.back(), id));
  launcher.finished(nodes.back(), id, node_failure(Cause::start_failed, "nor here"));
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i)
    launcher.finished(nodes[i], id, node_failure(Cause::canceled, "canceled"));
  const NodeFailed failed = end_of(id);
  const std::vector<FailedBefore> before{
      {"n1", told("why")}, {"n2", told("why")}, {"n3", told("why")}};
  EXPECT_EQ(failed.before, before);
  EXPECT_EQ(failed.more_before, 2);
}

TEST_F(Solvers, WhatIsSaidTwiceIsOneFactAndALateWordNone) {
  const AttemptId id = place(2);
  wants(n1, id);
  wants(n2, id);
  fails(n1, id, "no network");
  fails(n1, id, "no network");
  EXPECT_EQ(launcher.facts<EnvironmentNotSolved>().size(), 1U);
  generation = 7;  // of which the launcher knows nothing
  fails(n2, id, "no network");
  EXPECT_EQ(launcher.facts<EnvironmentNotSolved>().size(), 1U);
  EXPECT_TRUE(solves_at_last(n2, id));
}

TEST_F(Solvers, ALauncherThatNeverHeardTheQuestionTakesTheAnswerForOne) {
  const AttemptId id = place(2);
  fails(n1, id, "no network");
  EXPECT_EQ(launcher.facts<EnvironmentWanted>().size(), 1U);
  wants(n2, id);
  EXPECT_TRUE(solves_at_last(n2, id));
}

TEST_F(Solvers, AnAgentThatStartsAnewDoesNotGetItBack) {
  const AttemptId id = place(2);
  wants(n1, id);
  wants(n2, id);
  fails(n1, id, "no network");
  launcher.restart_agent(n1, {says(id, Step::wants_lock)});
  launcher.drop_notices();
  EXPECT_FALSE(plan(n1, id).solve);
  EXPECT_TRUE(solves_at_last(n2, id));
}

TEST_F(Solvers, OneOfAnotherPlatformDoesNotDoIt) {
  const AttemptId id = place(2);
  wants(n1, id, "py311");
  wants(n2, id, "py312");
  EXPECT_TRUE(solves_at_last(n1, id));
  EXPECT_TRUE(solves_at_last(n2, id));
}

TEST_F(Solvers, OneThatNeedsNoLockOfThatPlatformIsNotWaitedForWhenItIsPrepared) {
  const AttemptId first = place(2, "first");
  wants(n2, first, "py312");
  solves(n2, first, "lock", "py312");
  wants(n1, first, "py311");
  fails(n1, first, "no network", "py311");
  EXPECT_TRUE(solves_at_last(n1, first)) << "n2 asked for another";

  const AttemptId second = place(2, "second");
  launcher.cancel(first.job);
  launcher.drop_notices();
  wants(n1, second, "py311");
  fails(n1, second, "no network", "py311");
  EXPECT_FALSE(plan(n1, second).solve) << "n2 may ask yet";
  launcher.prepared(n2, second);
  launcher.drop_notices();
  EXPECT_TRUE(solves_at_last(n1, second));
}

TEST_F(Solvers, AFailedPartOfOneJobDoesNotHideAHealthyOneOfAnother) {
  const AttemptId first = place(2, "first");
  const AttemptId second = place(2, "second");
  wants(n1, first);
  wants(n1, second);
  fails(n1, first, "no network");
  EXPECT_TRUE(may_pass_on(n1, second)) << "its own part did not fail";
  fails(n1, second, "no network");
  EXPECT_FALSE(plan(n1, first).solve || plan(n1, second).solve);
  wants(n2, second);
  EXPECT_TRUE(solves_at_last(n2, second));
  solves(n2, second, "lock");
  EXPECT_EQ(locks(n1, first), (std::vector<EnvironmentLock>{{"py311", sha256("lock")}}));
}

TEST_F(Solvers, AJobWhoseNodesAllFailedWaitsForOneOfAnotherJob) {
  const AttemptId first = place(2, "first");
  const AttemptId second = place(2, "second");
  wants(n1, first);
  wants(n2, first);
  fails(n1, first, "no network");
  fails(n2, first, "no network");
  EXPECT_TRUE(solves_at_last(n1, first));
  wants(n2, second);
  EXPECT_FALSE(plan(n1, first).solve);
  EXPECT_TRUE(may_pass_on(n2, second));
  fails(n2, second, "no network");
  EXPECT_TRUE(solves_at_last(n1, first)) << "n1 may ask for the second job yet";
}

TEST_F(Solvers, ARebuildForgetsWhoFailed) {
  const AttemptId first = place(2, "first");
  wants(n1, first);
  wants(n2, first);
  fails(n1, first, "no network");
  fails(n2, first, "no network");
  SubmitInput again;
  again.reply = launcher.next_reply();
  again.spec = needing(numpy(), "again", 2);
  again.rebuild = true;
  launcher.send(again);
  launcher.expect_one<ReplySubmitted>();
  launcher.drop_notices();
  EXPECT_TRUE(may_pass_on(n1, first));
  fails(n1, first, "late, of before");
  EXPECT_TRUE(may_pass_on(n1, first));
  generation = plan(n1, first).generation;
  fails(n1, first, "no network");
  EXPECT_TRUE(solves_at_last(n2, first));
}

TEST_F(Solvers, AFailureAfterItWasSolvedNamesNobody) {
  const AttemptId id = place(2);
  wants(n1, id);
  wants(n2, id);
  fails(n1, id, "no network");
  solves(n2, id, "lock");
  launcher.finished(n1, id, node_failure(Cause::start_failed, "the disk is full"));
  launcher.finished(n2, id, node_failure(Cause::canceled, "canceled"));
  EXPECT_EQ(end_of(id).why, told("the disk is full"));
  EXPECT_TRUE(end_of(id).before.empty());
}

TEST_F(Solvers, ItIsShownAndOutlivesCompaction) {
  const AttemptId id = place(2);
  wants(n1, id);
  wants(n2, id);
  fails(n1, id, "no network");
  const auto shown = [&] { return launcher.view(id.job).attempts.at(0).parts.at(0).environment; };
  EXPECT_EQ(shown()->step, Step::not_solved);
  EXPECT_EQ(shown()->why, told("no network"));
  State replayed;
  for (const StampedFact& fact : compact(launcher.all_facts())) replayed.apply(fact.at, fact.fact);
  const auto& request = replayed.attempt(id)->parts.at(0).lock_request;
  EXPECT_EQ(request->platform, "py311");
  EXPECT_EQ(request->not_solved, (Part::LockRequest::NotSolved{0, told("no network")}));
  solves(n2, id, "lock");
  EXPECT_EQ(shown()->step, Step::solved);
  EXPECT_EQ(shown()->how, "");
  EXPECT_EQ(shown()->why, Why());
}

}  // namespace
}  // namespace lockstep::launcher
