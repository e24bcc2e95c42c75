// Environments: who solves, that all have the same lock, how long it is remembered.

#include "launcher/state/compact.h"
#include "launcher/state/roots.h"
#include "tests/unit/launcher/core/attempts/environment_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

TEST_F(Environments, WhatIsShownOfAPartIsNoOlderThanTheLockAndEndsWithIt) {
  const JobId job = launcher.submit(needing(numpy(), "job", 2));
  const AttemptId id = attempt(job);
  const auto shown = [&](int rank) {
    return launcher.view(job).attempts.at(0).parts.at(static_cast<std::size_t>(rank)).environment;
  };
  wants(n1, id);
  wants(n2, id);
  EXPECT_EQ(shown(0)->step, Step::wants_lock);
  solves(n1, id, "lock");
  EXPECT_EQ(shown(1)->step, Step::solved) << "n2 said nothing new while it builds";
  EXPECT_EQ(shown(1)->lock, sha256("lock"));
  EXPECT_EQ(shown(1)->platform, "py311");
}

TEST_F(Environments, APartThatHasEndedWaitsForNoLock) {
  const JobId job = launcher.submit(needing(numpy(), "job", 2));
  const AttemptId id = attempt(job);
  const auto shown = [&] { return launcher.view(job).attempts.at(0).parts.at(0).environment; };
  wants(n1, id);
  ASSERT_TRUE(shown());
  launcher.finished(n1, id, node_failure(Cause::environment_failed, "no such package"));
  EXPECT_FALSE(shown());
}

TEST_F(Environments, TheNodeThatAskedFirstSolvesAndAllGetItsLock) {
  const AttemptId id = attempt(launcher.submit(needing(numpy(), "job", 2)));
  EXPECT_FALSE(plan(n1, id).solve);
  wants(n2, id);
  EXPECT_TRUE(plan(n2, id).solve);
  wants(n1, id);
  EXPECT_FALSE(plan(n1, id).solve) << "though its node rank is lower";
  EXPECT_TRUE(plan(n2, id).solve);
  solves(n2, id, "lock");
  const std::vector<EnvironmentLock> both{{"py311", sha256("lock")}};
  EXPECT_EQ(locks(n1, id), both);
  EXPECT_EQ(locks(n2, id), both);
  EXPECT_FALSE(plan(n2, id).solve);
  launcher.restart();
  EXPECT_EQ(locks(n1, id), both);
}

TEST_F(Environments, AChangeOfThePlanIsSentToNodes) {
  const AttemptId id = attempt(launcher.submit(needing(numpy(), "job", 2)));
  wants(n1, id);
  wants(n2, id);
  PartReport made = says(id, Step::solved);
  made.environment->lock = sha256("lock");
  launcher.observe(n1, made);
  EXPECT_EQ(launcher.take<SendDesired>().size(), 2U);
  launcher.drop_notices();
}

TEST_F(Environments, TheFirstLockCounts) {
  const AttemptId id = attempt(launcher.submit(needing(numpy(), "job", 2)));
  wants(n1, id);
  solves(n1, id, "one");
  solves(n2, id, "another");
  EXPECT_EQ(locks(n1, id), (std::vector<EnvironmentLock>{{"py311", sha256("one")}}));
  EXPECT_EQ(launcher.facts<EnvironmentLocked>().size(), 1U);
}

TEST_F(Environments, AnotherJobWithTheSameDefinitionNeedsNoSolving) {
  const AttemptId first = attempt(launcher.submit(needing(numpy(), "first")));
  wants(n1, first);
  solves(n1, first, "lock");
  JobSpec other = needing(numpy(), "other");
  other.environment->name = "called-otherwise";
  const AttemptId second = attempt(launcher.submit(other));
  const FakeNode& where = launcher.placed_on(second).at(0) == n1.id ? n1 : n2;
  EXPECT_EQ(locks(where, second), (std::vector<EnvironmentLock>{{"py311", sha256("lock")}}));
}

TEST_F(Environments, AnotherDefinitionDoes) {
  const AttemptId first = attempt(launcher.submit(needing(numpy("1"), "first")));
  wants(n1, first);
  solves(n1, first, "lock");
  const AttemptId second = attempt(launcher.submit(needing(numpy("2"), "second", 2)));
  EXPECT_TRUE(locks(n2, second).empty());
}

TEST_F(Environments, EachPlatformHasItsOwn) {
  const AttemptId id = attempt(launcher.submit(needing(numpy(), "job", 2)));
  wants(n1, id, "py311");
  wants(n2, id, "py312");
  EXPECT_TRUE(plan(n1, id).solve);
  EXPECT_TRUE(plan(n2, id).solve);
  solves(n1, id, "a", "py311");
  solves(n2, id, "b", "py312");
  EXPECT_EQ(locks(n1, id),
            (std::vector<EnvironmentLock>{{"py311", sha256("a")}, {"py312", sha256("b")}}));
}

TEST_F(Environments, WhenTheSolverEndsTheNextOneSolves) {
  const AttemptId first = attempt(launcher.submit(needing(numpy(), "first", 2)));
  const AttemptId second = attempt(launcher.submit(needing(numpy(), "second", 2)));
  wants(n1, first);
  wants(n2, second);
  EXPECT_FALSE(plan(n2, second).solve);
  launcher.cancel(first.job);
  launcher.drop_notices();
  EXPECT_TRUE(plan(n2, second).solve);
}

TEST_F(Environments, WhenTheSolverFailsTheNextOneSolves) {
  JobSpec spec = needing(numpy(), "first");
  spec.retry.max = 0;
  const AttemptId first = attempt(launcher.submit(spec));
  FakeNode& solver = launcher.placed_on(first).at(0) == n1.id ? n1 : n2;
  FakeNode& other = solver.id == n1.id ? n2 : n1;
  const AttemptId second = attempt(launcher.submit(needing(numpy(), "second", 2)));
  wants(solver, first);
  wants(other, second);
  EXPECT_FALSE(plan(other, second).solve);
  launcher.finished(solver, first, node_failure(Cause::environment_failed, "no such package"));
  EXPECT_TRUE(plan(other, second).solve);
  launcher.take<AwaitLogs>();
  launcher.drop_notices();
}

TEST_F(Environments, AnEnvironmentThatCannotBeMadeFailsTheJobAtOnce) {
  const JobId job = launcher.submit(needing(numpy(), "job"));
  FakeNode& node = launcher.placed_on(attempt(job)).at(0) == n1.id ? n1 : n2;
  launcher.finished(node, attempt(job),
                    node_failure(Cause::environment_failed, "no such package: numpyy"));
  launcher.take<AwaitLogs>();
  launcher.drop_notices();
  const JobView view = launcher.view(job);
  EXPECT_EQ(view.status, JobStatus::failed);
  EXPECT_EQ(view.attempts.size(), 1U);
  EXPECT_EQ(view.report->exit_code, 125);
  EXPECT_EQ(view.report->why, Why(NodeFailed{view.report->node_name, Cause::environment_failed,
                                             told("no such package: numpyy")}));
}

TEST_F(Environments, RebuildSolvesAnew) {
  const AttemptId first = attempt(launcher.submit(needing(numpy(), "first")));
  FakeNode& node = launcher.placed_on(first).at(0) == n1.id ? n1 : n2;
  wants(node, first);
  solves(node, first, "old");
  SubmitInput again;
  again.reply = launcher.next_reply();
  again.spec = needing(numpy(), "again", 2);
  again.rebuild = true;
  launcher.send(again);
  const AttemptId second = attempt(launcher.expect_one<ReplySubmitted>().job);
  launcher.drop_notices();
  EXPECT_TRUE(locks(node, second).empty());
  EXPECT_NE(plan(node, second).generation, 0U);
  wants(node, second);
  solves(node, second, "late, of before");
  EXPECT_TRUE(locks(node, second).empty());
  generation = plan(node, second).generation;
  solves(node, second, "new");
  EXPECT_EQ(locks(node, second), (std::vector<EnvironmentLock>{{"py311", sha256("new")}}));
}

struct TwoAccounts : Environments {
  // A job on both nodes, whose ranks run as this account.
  AttemptId placed_as(const std::string& account, const std::string& name, bool rebuild = false) {
    SubmitInput input;
    input.reply = launcher.next_reply();
    input.spec = needing(numpy(), name, 2);
    input.spec.run_as = account;
    input.rebuild = rebuild;
    launcher.send(input);
    const AttemptId id = attempt(launcher.expect_one<ReplySubmitted>().job);
    launcher.drop_notices();
    return id;
  }
  std::vector<EnvironmentLock> of(const std::string& lock) { return {{"py311", sha256(lock)}}; }
  const Environment* known(const std::string& account) {
    return launcher.core->state().environment({digest_of(numpy()), account});
  }
};

TEST_F(TwoAccounts, EachHasALockOfItsOwn) {
  const AttemptId hers = placed_as("alice", "hers");
  wants(n1, hers);
  solves(n1, hers, "her lock");
  const AttemptId his = placed_as("bob", "his");
  EXPECT_TRUE(locks(n1, his).empty()) << "her pip.conf is not his";
  wants(n1, his);
  EXPECT_TRUE(plan(n1, his).solve);
  solves(n1, his, "his lock");
  EXPECT_EQ(locks(n1, his), of("his lock"));
  EXPECT_EQ(locks(n2, hers), of("her lock"));
  launcher.restart();
  EXPECT_EQ(locks(n1, his), of("his lock"));
  EXPECT_EQ(locks(n2, hers), of("her lock"));
}

TEST_F(TwoAccounts, ARebuildIsTheCallersAlone) {
  const AttemptId hers = placed_as("alice", "hers");
  wants(n1, hers);
  solves(n1, hers, "her lock");
  const AttemptId his = placed_as("bob", "his", true);
  EXPECT_NE(plan(n1, his).generation, 0U);
  EXPECT_EQ(plan(n1, hers).generation, 0U);
  EXPECT_EQ(locks(n2, hers), of("her lock"));
  wants(n2, his);
  generation = plan(n2, his).generation;
  solves(n2, his, "his lock");
  EXPECT_EQ(locks(n1, his), of("his lock"));
  const AttemptId next = placed_as("alice", "her-next");
  EXPECT_EQ(plan(n1, next).generation, 0U);
  EXPECT_EQ(locks(n1, next), of("her lock")) << "solved once, and nobody else's";
}

TEST_F(TwoAccounts, NobodySolvesForAnother) {
  const AttemptId hers = placed_as("alice", "hers");
  const AttemptId his = placed_as("bob", "his");
  wants(n1, hers);
  wants(n2, his);
  EXPECT_TRUE(plan(n1, hers).solve);
  EXPECT_TRUE(plan(n2, his).solve) << "she solves nothing that he waits for";
  solves(n2, hers, "forged");
  EXPECT_TRUE(locks(n1, hers).empty()) << "n2 was asked for his alone";
  EXPECT_EQ(audited, std::vector<NodeId>{n2.id});
}

TEST_F(TwoAccounts, OfARegisteredNameEachAccountKeepsItsOwn) {
  create(called("torch", ""));
  EXPECT_TRUE(launcher.core->state().environments().empty()) << "a name alone has no lock";
  for (const std::string account : {"alice", "bob"}) {
    const AttemptId id = placed_as(account, account);
    wants(n1, id);
    solves(n1, id, account);
    launcher.cancel(id.job);
    for (FakeNode* node : {&n1, &n2})
      launcher.finished(*node, id, node_failure(Cause::canceled, "canceled"));
    launcher.take<AwaitLogs>();
    launcher.send(DeleteInput{launcher.next_reply(), {id.job}, false, {}, UserCaller{"ann"}});
    launcher.take<ReplyDeleted>();
    launcher.take<ForgetJob>();
    launcher.drop_notices();
  }
  EXPECT_EQ(known("alice")->locks.at("py311").tree, sha256("alice"));
  EXPECT_EQ(known("bob")->locks.at("py311").tree, sha256("bob"));
  launcher.restart();
}

// Facts of a launcher whose locks were for all accounts.
struct OldLocks : ::testing::Test {
  void apply(Fact fact) {
    at = at + seconds(1);
    facts.push_back({at, fact});
    state.apply(at, facts.back().fact);
  }
  void submit(const std::string& name, const std::string& account) {
    JobSpec spec = needing(numpy(), name);
    spec.run_as = account;
    apply(JobSubmitted{JobId(name), name, spec, 0, 0});
  }
  void lock(const std::string& job, std::uint64_t of_generation, const std::string& tree) {
    apply(EnvironmentLocked{
        definition, of_generation, {"py311", sha256(tree)}, {JobId(job), 1}, NodeId(1), {}});
  }
  void end(const std::string& job) {
    apply(JobFinished{JobId(job), JobStatus::completed, {}});
    apply(JobDeleted{JobId(job), "ann", job, 0});
  }
  static const Environment* known(const State& in, const std::string& account) {
    return in.environment({digest_of(numpy()), account});
  }

  const Digest definition = digest_of(numpy());
  Instant at{1'000'000'000};
  std::vector<StampedFact> facts;
  State state;
};

TEST_F(OldLocks, StayWithTheAccountThatSolvedThem) {
  submit("hers", "alice");
  submit("his", "bob");
  lock("his", 0, "lock");
  EXPECT_TRUE(known(state, "alice")->locks.empty());
  EXPECT_EQ(known(state, "bob")->locks.at("py311").tree, sha256("lock"));
}

TEST_F(OldLocks, WhoseJobIsGoneAreNobodys) {
  submit("hers", "alice");
  lock("deleted-before-a-compaction", 0, "lock");
  EXPECT_TRUE(known(state, "alice")->locks.empty());
}

TEST_F(OldLocks, ARebuildConcernedAll) {
  submit("hers", "alice");
  lock("hers", 0, "lock");
  submit("his", "bob");
  apply(EnvironmentReset{definition, 7, "bob", {}});
  EXPECT_TRUE(known(state, "alice")->locks.empty());
  EXPECT_EQ(known(state, "alice")->generation, 7U);
  EXPECT_EQ(known(state, "bob")->generation, 7U);
}

TEST_F(OldLocks, AreTheSameAfterACompaction) {
  apply(EnvironmentRegistered{called("torch", "1"), "alice"});
  submit("hers", "alice");
  lock("hers", 0, "first");
  submit("his", "bob");
  apply(EnvironmentReset{definition, 7, "bob", {}});
  lock("his", 7, "his");
  submit("more", "carol");
  lock("more", 7, "his");
  end("his");
  Compaction compaction;
  for (const StampedFact& fact : facts) compaction.see(fact);
  State compacted;
  for (const StampedFact& fact : facts)
    if (const auto kept = compaction.keep(fact)) compacted.apply(kept->at, kept->fact);
  for (const StampedFact& fact : compaction.closing()) compacted.apply(fact.at, fact.fact);
  EXPECT_TRUE(compaction.sound());
  EXPECT_EQ(known(compacted, "bob")->locks.at("py311").tree, sha256("his"));
  EXPECT_EQ(known(compacted, "bob")->generation, 7U);
  EXPECT_EQ(known(compacted, "carol")->locks.at("py311").tree, sha256("his"));
  EXPECT_EQ(compacted, state);
}

TEST_F(Environments, ANodeThatHasItsEnvironmentSolvesForNobody) {
  const AttemptId first = attempt(launcher.submit(needing(numpy(), "first", 2)));
  wants(n1, first);
  solves(n1, first, "old");
  launcher.prepared(n1, first);
  launcher.drop_notices();
  SubmitInput again;
  again.reply = launcher.next_reply();
  again.spec = needing(numpy(), "again", 2);
  again.rebuild = true;
  launcher.send(again);
  const AttemptId second = attempt(launcher.expect_one<ReplySubmitted>().job);
  launcher.drop_notices();
  wants(n2, second);
  EXPECT_TRUE(plan(n2, second).solve) << "n1 asked before, but needs no lock any more";
}

TEST_F(Environments, LocksAreRootsUntilNoJobHasTheDefinition) {
  const JobId job = launcher.submit(needing(numpy(), "job"));
  FakeNode& node = launcher.placed_on(attempt(job)).at(0) == n1.id ? n1 : n2;
  wants(node, attempt(job));
  solves(node, attempt(job), "lock");
  const auto roots = [&] {
    std::vector<Digest> found;
    each_root(launcher.core->state(), [&](const Root& root) { found.push_back(root.tree); });
    return found;
  };
  EXPECT_EQ(roots(), std::vector<Digest>{sha256("lock")});
  launcher.cancel(job);
  launcher.finished(node, attempt(job), node_failure(Cause::canceled, "canceled"));
  launcher.take<AwaitLogs>();
  launcher.drop_notices();
  EXPECT_EQ(roots().size(), 1U);
  launcher.send(DeleteInput{launcher.next_reply(), {job}, false, {}, UserCaller{"ann"}});
  launcher.take<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  EXPECT_TRUE(roots().empty());
  EXPECT_TRUE(launcher.core->state().environments().empty());
}

TEST_F(Environments, ARegisteredDefinitionKeepsItsLockWithoutJobs) {
  EXPECT_EQ(create(called("torch", "")), "1");
  const JobId job = launcher.submit(needing(numpy(), "job"));
  FakeNode& node = launcher.placed_on(attempt(job)).at(0) == n1.id ? n1 : n2;
  wants(node, attempt(job));
  solves(node, attempt(job), "lock");
  launcher.cancel(job);
  launcher.finished(node, attempt(job), node_failure(Cause::canceled, "canceled"));
  launcher.take<AwaitLogs>();
  launcher.send(DeleteInput{launcher.next_reply(), {job}, false, {}, UserCaller{"ann"}});
  launcher.take<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  const Environment* known = launcher.core->state().environment({digest_of(numpy()), ""});
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->locks.at("py311").tree, sha256("lock"));
  launcher.restart();
}

TEST_F(Environments, AVersionNeverChangesAndTheNewestIsLatest) {
  EXPECT_EQ(create(called("torch", "")), "1");
  EXPECT_EQ(create(called("torch", "cuda", numpy("2"))), "cuda");
  EXPECT_EQ(create(called("torch", "")), "2");
  EXPECT_EQ(create(called("torch", "cuda", numpy("2"))), "cuda") << "the same again is no error";
  EXPECT_EQ(launcher.facts<EnvironmentRegistered>().size(), 3U);
  const Error refused = create_refused(called("torch", "cuda", numpy("3")));
  EXPECT_EQ(refused.code, ErrorCode::already_exists);
  EXPECT_THAT(refused.message, HasSubstr("torch:cuda already exists with another definition"));
  EXPECT_THAT(create_refused(called("", "1")).message, HasSubstr("needs a name"));
  EXPECT_THAT(create_refused(called("a/b", "1")).message, HasSubstr("environment.name"));
  const State& state = launcher.core->state();
  EXPECT_EQ(state.registered("torch", "")->environment.spec.version, "2");
  EXPECT_EQ(state.registered("torch", "cuda")->definition, digest_of(numpy("2")));
  EXPECT_EQ(state.registered("torch", "9"), nullptr);
  EXPECT_EQ(state.registered("jax", ""), nullptr);
  launcher.restart();
}

TEST_F(Environments, NodesAreToldToPrune) {
  launcher.tick(seconds(100));
  launcher.pass(seconds(1), {&n1, &n2});
  launcher.send(PruneEnvironmentsInput{launcher.next_reply(), seconds(30), UserCaller{"alice"}});
  launcher.expect_one<ReplyDone>();
  EXPECT_EQ(launcher.take<SendDesired>().size(), 2U);
  launcher.drop_notices();
  EXPECT_EQ(launcher.core->desired_for(n1.id).environments_unused_since,
            launcher.now - seconds(30));
}

}  // namespace
}  // namespace lockstep::launcher
