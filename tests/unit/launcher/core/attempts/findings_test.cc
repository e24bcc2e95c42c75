// What a gang finds out about its ranks: in views at once, in the journal and among the events only
// when it says something else.

#include "common/domain/why/jobs/events.h"
#include "launcher/core/attempts/gang_findings.h"

#include "launcher/state/found_state.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Findings : ::testing::Test {
  Findings() {
    job = launcher.submit(job_spec("gang", 2, 2));
    first = attempt(job);
    for (FakeNode* node : {&n1, &n2}) launcher.prepared(*node, first);
    for (FakeNode* node : {&n1, &n2}) launcher.observe(*node, first, PartState::running);
  }
  Found waits_for(int rank, Duration lasting = seconds(130)) {
    Found found;
    found.kind = FoundKind::waits;
    found.verdict = FoundVerdict::waits;
    FoundRank named;
    named.rank = rank;
    named.node_rank = rank / 2;
    named.doing = "computes";
    named.at = "eval.py:88";
    found.ranks = {named};
    found.waiting = {0, 1};
    found.lasting = lasting;
    found.since = launcher.now - lasting;
    return found;
  }
  void tell(FoundList found, FakeNode* node = nullptr) {
    PartReport running = report(first, PartState::running);
    running.found = std::move(found);
    launcher.observe(node == nullptr ? n1 : *node, running);
    launcher.drop_notices();
  }
  FoundList seen() { return launcher.view(job).attempts.back().found; }
  std::size_t facts() { return launcher.facts<FoundChanged>().size(); }
  // What the newest event of this word says that names n2.
  std::optional<NamedFound> told(const std::string& what) {
    std::optional<NamedFound> found;
    const auto listed = launcher.core->job_events(job, {});
    for (const JobEvent& event : listed->events) {
      if (event.what != what || event.node_name != "n2") continue;
      if (const auto* fresh = event.why.as<RanksFound>()) found = fresh->found;
      if (const auto* over = event.why.as<RanksGoOn>()) found = over->found;
    }
    return found;
  }

  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  JobId job;
  AttemptId first;
};

TEST_F(Findings, AreOneFactHoweverLongTheyLast) {
  tell({waits_for(3)});
  EXPECT_EQ(facts(), 1U);
  const auto found = told("Found");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, FoundKind::waits);
  EXPECT_EQ(found->lasting, seconds(130));
  EXPECT_THAT(found->waiting, ElementsAre(RankSpan{0, 1}));
  EXPECT_EQ(found->ranks[0].rank, 3);
  EXPECT_EQ(found->ranks[0].at, "eval.py:88");
  EXPECT_THAT(found->nodes, ElementsAre(RankedNode{1, "n2"}));
  for (const int more : {140, 150, 160}) {
    launcher.pass(seconds(1), {&n1, &n2});
    tell({waits_for(3, seconds(more))});
  }
  EXPECT_EQ(facts(), 1U);
  ASSERT_EQ(seen().size(), 1U);
  EXPECT_GE(seen()[0].lasting, seconds(160)) << "the view has the newest numbers";
}

TEST_F(Findings, AnAlarmAndItsEndAreTold) {
  tell({waits_for(3)});
  Found hang = waits_for(3);
  hang.verdict = FoundVerdict::hangs;
  tell({hang});
  tell({});
  EXPECT_EQ(facts(), 3U);
  EXPECT_TRUE(seen().empty());
  ASSERT_TRUE(told("Hang"));
  EXPECT_EQ(told("Hang")->verdict, FoundVerdict::hangs);
  ASSERT_TRUE(told("GoesOn"));
  EXPECT_EQ(told("GoesOn")->ranks[0].rank, 3);
}

TEST_F(Findings, OutliveTheLauncher) {
  tell({waits_for(3)});
  launcher.restart();
  ASSERT_EQ(seen().size(), 1U);
  EXPECT_EQ(seen()[0].ranks[0].at, "eval.py:88");
  ASSERT_TRUE(told("Found"));
  EXPECT_EQ(told("Found")->lasting, seconds(130));
}

TEST_F(Findings, OnlyNodeRankZeroIsBelieved) {
  tell({waits_for(3)}, &n2);
  EXPECT_EQ(facts(), 0U);
  EXPECT_THAT(seen(), IsEmpty());
}

TEST_F(Findings, RanksThatTheGangDoesNotHaveAreLeftOut) {
  Found made_up = waits_for(3);
  made_up.ranks[0].rank = 4;
  Found elsewhere = waits_for(3);
  elsewhere.ranks[0].node_rank = 2;
  Found partly = waits_for(2);
  partly.waiting = {1, 0, -1, 4};
  tell({made_up, elsewhere, partly});
  ASSERT_EQ(seen().size(), 1U);
  EXPECT_THAT(seen()[0].waiting, ElementsAre(0, 1));
}

// A node that changes its mind with each report.
TEST_F(Findings, FillNoJournal) {
  for (int i = 0; i < 200; ++i) tell(i % 2 == 0 ? FoundList{waits_for(3)} : FoundList{});
  EXPECT_EQ(facts(), static_cast<std::size_t>(kFoundFactsAtOnce));
  tell({waits_for(2)});
  ASSERT_EQ(seen().size(), 1U) << "views have it all the same";
  EXPECT_EQ(seen()[0].ranks[0].rank, 2);
  launcher.pass(kFoundFactEvery, {&n1, &n2});
  tell({waits_for(3)});
  EXPECT_EQ(facts(), static_cast<std::size_t>(kFoundFactsAtOnce) + 1);
}

TEST_F(Findings, StayWithAnAttemptThatFailsAndLeaveOneThatCompletes) {
  tell({waits_for(3)});
  launcher.finished(n1, first, node_exit({rank_exit(0), rank_exit(1)}));
  launcher.finished(n2, first, node_exit({rank_exit(2), rank_exit(3, Cause::exit_code, 3)}));
  EXPECT_EQ(launcher.view(job).attempts[0].found.size(), 1U);
  const ExplainView ended = launcher.explain(job);
  EXPECT_THAT(ended.lines, Contains(HasSubstr("have waited 130 s")));
  EXPECT_THAT(ended.lines, Not(Contains(HasSubstr("job stacks")))) << "its ranks are gone";
  job = launcher.submit(job_spec("other", 2, 2));
  first = attempt(job);
  for (FakeNode* node : {&n1, &n2}) launcher.prepared(*node, first);
  for (FakeNode* node : {&n1, &n2}) launcher.observe(*node, first, PartState::running);
  tell({waits_for(3)});
  launcher.finished(n1, first, node_exit({rank_exit(0), rank_exit(1)}));
  launcher.finished(n2, first, node_exit({rank_exit(2), rank_exit(3)}));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
  EXPECT_THAT(launcher.view(job).attempts[0].found, IsEmpty());
}

TEST_F(Findings, ExplainSaysThemWithWhatToDo) {
  tell({waits_for(3)});
  const ExplainView explained = launcher.explain(job);
  EXPECT_THAT(explained.lines, Contains(HasSubstr("which computes in eval.py:88")));
  EXPECT_THAT(explained.lines, Contains(HasSubstr("`lockstep job stacks gang --rank 3`")));
  EXPECT_THAT(lines_for_all(explained), Contains(HasSubstr("ranks 0–1 have waited")));
  EXPECT_THAT(lines_for_all(explained), Not(Contains(HasSubstr("eval.py"))));
}

TEST_F(Findings, WhatTheProbeChoseStaysWithThePart) {
  PartReport running = report(first, PartState::stopping);
  running.probe = ProbeResult{{{0, "eth1", "10.0.0.4", milliseconds(1), 94'000, 9'000}}, {}, false};
  running.settings = {{"NCCL_SOCKET_IFNAME", "=eth1", SettingSource::probe, "it is fastest", ""}};
  launcher.observe(n1, running);
  launcher.drop_notices();
  launcher.observe(n1, first, PartState::collecting);
  const AttemptView view = launcher.view(job).attempts[0];
  ASSERT_TRUE(view.probe);
  EXPECT_EQ(view.probe->chosen[0].interface, "eth1");
  EXPECT_EQ(view.parts[0].settings, running.settings);
}

TEST_F(Findings, ExplainSaysNothingOfBrokenPathsWithoutOne) {
  PartReport running = report(first, PartState::stopping);
  running.probe.emplace().broken = 1;
  launcher.observe(n1, running);
  launcher.drop_notices();
  EXPECT_THAT(launcher.explain(job).lines, Not(Contains(HasSubstr("cannot reach"))));
}

TEST_F(Findings, ASignalOfTheOwnerIsAnEvent) {
  launcher.send(RanksSignaledInput{first, n2.id, 3, 10, "alice"});
  launcher.send(RanksSignaledInput{first, n1.id, std::nullopt, 18, "alice"});
  launcher.drop_notices();
  std::vector<Why> signaled;
  const auto page = launcher.core->job_events(job, {});
  for (const JobEvent& event : page->events)
    if (event.what == "Signaled") signaled.push_back(event.why);
  EXPECT_THAT(signaled, ElementsAre(Why(RanksSignaled{10, 3, "alice"}),
                                    Why(RanksSignaled{18, std::nullopt, "alice"})));
}

TEST(WithoutContents, NamesAndTimesStay) {
  Found found;
  found.kind = FoundKind::waits;
  found.ranks = {{3, 1, "reads", "read", "/data/secret", "eval.py:88", 900}};
  found.fact = "AllReduce";
  found.here = 41;
  found.lasting = seconds(130);
  const Found told = without_contents(found);
  EXPECT_EQ(told.ranks, (std::vector<FoundRank>{{3, 1, "reads", "", "", "", 0}}));
  EXPECT_EQ(told.fact, "");
  EXPECT_EQ(told.here, 0);
  EXPECT_EQ(told.lasting, seconds(130));
}

}  // namespace
}  // namespace lockstep::launcher
