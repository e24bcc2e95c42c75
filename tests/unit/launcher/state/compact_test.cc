// What compaction drops, and what it must not. That the fold stays the same and that a second
// compaction changes nothing is checked at the end of every test of the core (launcher_fixture).

#include "launcher/state/compact.h"

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

template <typename T>
std::size_t count(const std::vector<StampedFact>& facts) {
  std::size_t found = 0;
  for (const StampedFact& fact : facts) found += std::holds_alternative<T>(fact.fact) ? 1 : 0;
  return found;
}

TEST(Compact, OfAPartsReportsTheFirstOfEachStateAndTheLastAreKept) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.run_solo(n1, attempt(job), node_exit({rank_exit(0)}));
  ASSERT_EQ(launcher.facts<PartChanged>().size(), 4U);
  std::vector<StampedFact> facts;
  for (const StampedFact& fact : launcher.all_facts()) {
    facts.push_back(fact);
    auto again = fact;
    auto* changed = std::get_if<PartChanged>(&again.fact);
    if (changed == nullptr || changed->report.state != PartState::running) continue;
    changed->report.progress = "logs of rank 0 wait";
    facts.insert(facts.end(), 3, again);
  }
  ASSERT_EQ(count<PartChanged>(facts), 7U);
  const auto compacted = compact(facts);
  EXPECT_EQ(count<PartChanged>(compacted), 4U);
  EXPECT_EQ(count<JobFinished>(compacted), 1U);
  State whole, kept;
  for (const StampedFact& fact : facts) whole.apply(fact.at, fact.fact);
  for (const StampedFact& fact : compacted) kept.apply(fact.at, fact.fact);
  EXPECT_EQ(whole.job(job)->events, kept.job(job)->events);
  EXPECT_TRUE(whole == kept);
}

TEST(Compact, OfADeletedJobOnlyThatItWasIsKept) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  const JobId other = launcher.submit(job_spec("other"));
  launcher.run_solo(n1, attempt(job), node_exit({rank_exit(0)}));
  launcher.send(DeleteInput{launcher.next_reply(), {job}, false, {}, UserCaller{"ann"}});
  launcher.take<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  const auto compacted = compact(launcher.all_facts());
  EXPECT_EQ(count<JobSubmitted>(compacted), 1U);
  EXPECT_EQ(count<AttemptPlaced>(compacted), 1U);
  EXPECT_EQ(count<JobDeleted>(compacted), 1U);
  EXPECT_EQ(count<JobFinished>(compacted), 0U);
  // The node has applied revisions that came from the deleted job: they do not run backwards.
  Core again(launcher.config);
  for (const StampedFact& fact : compacted) again.replay(fact);
  EXPECT_EQ(again.desired_for(n1.id), launcher.core->desired_for(n1.id));
  EXPECT_EQ(again.state().job(other)->order, 2U);
}

TEST(Compact, OfManySessionsTheLastIsKeptWholeAndThePastOnesAsNames) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1", inventory(64));
  for (int i = 0; i < 40; ++i) {
    launcher.restart_agent(n1, {});
    launcher.drop_notices();
  }
  const auto compacted = compact(launcher.all_facts());
  EXPECT_EQ(count<NodeSessionStarted>(compacted), kMaxPastSessions + 1);
  std::size_t with_inventory = 0;
  for (const StampedFact& fact : compacted)
    if (const auto* started = std::get_if<NodeSessionStarted>(&fact.fact))
      with_inventory += started->inventory.cpus.empty() ? 0 : 1;
  EXPECT_EQ(with_inventory, 1U);
}

TEST(Compact, ANameThatWasUsedTwiceKeepsItsSecondJob) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  for (int life = 0; life < 3; ++life) {
    const JobId job = launcher.submit(job_spec("job"));
    launcher.run_solo(n1, launcher.core->state().job(job)->attempts.back().id,
                      node_exit({rank_exit(0)}));
    if (life == 2) break;
    launcher.send(DeleteInput{launcher.next_reply(), {job}, false, {}, UserCaller{"ann"}});
    launcher.take<ReplyDeleted>();
    launcher.take<ForgetJob>();
    launcher.drop_notices();
  }
  const auto compacted = compact(launcher.all_facts());
  EXPECT_EQ(count<JobSubmitted>(compacted), 1U);
  EXPECT_EQ(count<JobDeleted>(compacted), 2U) << "either's submission may be sent again";
}

// A compaction sees the facts up to some moment; what came since follows behind it.
TEST(Compact, WhatIsCommittedMeanwhileFollowsBehind) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId gang = launcher.submit(job_spec("gang", 2));
  launcher.prepared(n1, attempt(gang));
  launcher.prepared(n2, attempt(gang));
  launcher.finished(n1, attempt(gang), node_exit({rank_exit(0)}));
  launcher.finished(n2, attempt(gang), node_exit({rank_exit(1)}));
  launcher.send(DeleteInput{launcher.next_reply(), {gang}, false, {}, UserCaller{"ann"}});
  launcher.take<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  launcher.submit(job_spec("gang", 2));
  const std::vector<StampedFact>& all = launcher.all_facts();
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(cut);
    std::vector<StampedFact> facts = compact({all.begin(), at});
    facts.insert(facts.end(), at, all.end());
    Core again(launcher.config);
    for (const StampedFact& fact : facts) again.replay(fact);
    EXPECT_TRUE(again.state() == launcher.core->state()) << "compacted after " << cut << " facts";
  }
}

}  // namespace
}  // namespace lockstep::launcher
