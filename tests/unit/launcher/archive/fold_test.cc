// What the facts of a job's life change in the archive.

#include "launcher/archive/fold.h"

#include <gmock/gmock.h>

#include "common/domain/why/jobs/orders.h"
#include "tests/unit/launcher/archive/facts.h"

namespace lockstep::archive {
namespace {

using launcher::JobAnnotated;
using launcher::JobArchived;
using launcher::JobDeleted;
using launcher::JobFinished;
using launcher::JobShared;
using launcher::JobSubmitted;
using launcher::PartGone;
using testing::IsEmpty;
using testing::SizeIs;

class FoldTest : public testing::Test {
 protected:
  void see(const std::vector<StampedFact>& facts, const SubmittedAs& as = {}) {
    for (const StampedFact& fact : facts) fold_.see(fact, as, &changes_);
  }
  void see(Instant at, launcher::Fact fact, const SubmittedAs& as = {}) {
    fold_.see({at, std::move(fact)}, as, &changes_);
  }
  template <typename T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const Change& change : changes_)
      if (const T* one = std::get_if<T>(&change)) found.push_back(*one);
    return found;
  }
  Use sum() const {
    Use sum;
    for (const Used& used : all<Used>()) sum += used.use;
    return sum;
  }
  static SubmittedAs as(std::uint64_t order, const std::string& parent = "") {
    SubmittedAs as;
    as.order = order;
    as.child_of = JobId(parent);
    return as;
  }

  Fold fold_{[](const JobSpec& spec) { return "definition of " + spec.experiment_name; }};
  std::vector<Change> changes_;
};

TEST_F(FoldTest, ALifeIsARowAndItsUse) {
  see(facts_of({"job"}), as(7));
  ASSERT_THAT(all<JobEnded>(), SizeIs(1));
  const EndedJob job = all<JobEnded>()[0].job;
  EXPECT_EQ(job.order, 7u);
  EXPECT_EQ(job.job, JobId("job"));
  EXPECT_EQ(job.status, JobStatus::completed);
  EXPECT_EQ(job.owner, "ann");
  EXPECT_EQ(job.target, "local");
  EXPECT_EQ(job.submitted, at_second(10));
  EXPECT_EQ(job.started, at_second(20));
  EXPECT_EQ(job.ended, at_second(30));
  EXPECT_EQ(job.attempts, 1);
  EXPECT_EQ(all<JobEnded>()[0].definition, "definition of e");
  EXPECT_EQ(job.definition, sha256("definition of e"));
  const Use use = sum();
  EXPECT_EQ(use.cpu_ms, 2 * 10'000);
  EXPECT_EQ(use.gpu_ms, 10'000);
  EXPECT_EQ(use.memory_mib_s, 1'024 * 10);
  EXPECT_EQ(use.used_cpu_ms, 3'000);
  EXPECT_EQ(use.waited_ms, 10'000);
  EXPECT_EQ(use.attempts, 1);
  EXPECT_EQ(use.jobs, 1);
  EXPECT_EQ(all<Used>()[0].key, (UseKey{0, "ann", "p", "local"}));
  EXPECT_EQ(fold_.open_jobs(), 0u);
}

TEST_F(FoldTest, WhatNeverRanHasWaited) {
  Life life{"job"};
  life.runs = false;
  see(facts_of(life), as(1));
  EXPECT_EQ(all<JobEnded>().at(0).job.started, Instant{});
  EXPECT_EQ(all<JobEnded>().at(0).job.cause, to_string(Cause::canceled));
  EXPECT_EQ(sum().waited_ms, 20'000);
  EXPECT_EQ(sum().cpu_ms, 0);
}

TEST_F(FoldTest, APartCountsOnceHoweverOftenItsEndIsTold) {
  const Life life{"job"};
  see(at_second(10), JobSubmitted{JobId("job"), "", spec_of(life), 0, 0}, as(1));
  const auto attempt = attempt_of(life);
  see({attempt[0], attempt[1], attempt[2], attempt[2]});
  see(at_second(99), PartGone{{JobId("job"), 1, 0}, NodeId(1), Cause::node_lost, told("lost")});
  see({attempt[3], attempt[3]});
  EXPECT_EQ(sum().cpu_ms, 2 * 10'000);
  EXPECT_EQ(sum().attempts, 1);
}

TEST_F(FoldTest, ALostPartCountsUntilItWasGivenUp) {
  const Life life{"job"};
  see(at_second(10), JobSubmitted{JobId("job"), "", spec_of(life), 0, 0}, as(1));
  see({attempt_of(life)[0]});
  see(at_second(50), PartGone{{JobId("job"), 1, 0}, NodeId(1), Cause::node_lost, told("lost")});
  EXPECT_EQ(sum().cpu_ms, 2 * 30'000);
}

TEST_F(FoldTest, AStaleAttemptCountsNothing) {
  const Life life{"job"};
  see(at_second(10), JobSubmitted{JobId("job"), "", spec_of(life), 0, 0}, as(1));
  see({attempt_of(life)[0]});
  see(at_second(50), PartGone{{JobId("job"), 1, 5}, NodeId(1), Cause::node_lost, told("lost")});
  see(at_second(50), PartGone{{JobId("job"), 2, 0}, NodeId(1), Cause::node_lost, told("lost")});
  see(at_second(50), PartGone{{JobId("job"), 1, 0}, NodeId(2), Cause::node_lost, told("lost")});
  EXPECT_THAT(all<Used>(), IsEmpty());
}

TEST_F(FoldTest, NobodyUsesMoreCpuTimeThanANumberHolds) {
  const Life life{"job"};
  see(at_second(10), JobSubmitted{JobId("job"), "", spec_of(life), 0, 0}, as(1));
  auto attempt = attempt_of(life);
  auto& exit = *std::get<launcher::PartChanged>(attempt[2].fact).report.exit;
  exit.ranks.resize(3);
  for (RankExit& rank : exit.ranks) rank.cpu_time = Duration::max();
  exit.ranks[2].cpu_time = Duration::min();
  see(attempt);
  EXPECT_GE(sum().used_cpu_ms, 0);
}

TEST_F(FoldTest, TextsOfAnOpenJobAreInItsRowAndThoseOfAnEndedOneAChange) {
  const Life life{"job"};
  see(at_second(10), JobSubmitted{JobId("job"), "", spec_of(life), 0, 0}, as(1));
  see(at_second(11), JobAnnotated{JobId("job"), "title", "text", "e2", {{"a", "b"}}, "ann"});
  see(at_second(12), JobShared{JobId("job"), true, "ann"});
  see(attempt_of(life));
  see(at_second(30), JobFinished{JobId("job"), JobStatus::completed, {}});
  const EndedJob job = all<JobEnded>().at(0).job;
  EXPECT_EQ(job.title, "title");
  EXPECT_EQ(job.experiment, "e2");
  EXPECT_EQ(job.tags, (std::map<std::string, std::string>{{"a", "b"}}));
  EXPECT_TRUE(job.shared);
  see(at_second(40), JobAnnotated{JobId("job"), "later", "", "e", {}, "ann"});
  see(at_second(41), JobArchived{JobId("job"), true, "ann"});
  const auto changed = all<JobChanged>();
  ASSERT_THAT(changed, SizeIs(3));
  EXPECT_EQ(changed[1].texts->title, "later");
  EXPECT_EQ(changed[2].archived, true);
}

TEST_F(FoldTest, StepsAreArchivedAndSharedWithTheirPipeline) {
  JobSpec spec = spec_of({"step"});
  spec.parent = JobId("pipeline");
  spec.step = "one";
  see(at_second(10), JobSubmitted{JobId("step"), "", spec, 0, 0}, as(2));
  see(at_second(11), JobArchived{JobId("pipeline"), true, "ann"});
  see(at_second(11), JobShared{JobId("pipeline"), true, "ann"});
  see(at_second(12), JobFinished{JobId("step"), JobStatus::canceled, {}});
  EXPECT_TRUE(all<JobEnded>().at(0).job.archived);
  EXPECT_TRUE(all<JobEnded>().at(0).job.shared);
  EXPECT_EQ(all<JobEnded>().at(0).job.parent, JobId("pipeline"));
}

TEST_F(FoldTest, WithItsParentAChildLosesThatAlone) {
  JobSpec child = spec_of({"child"});
  child.parent = JobId("parent");
  JobSpec step = child;
  step.step = "one";
  see(at_second(10), JobSubmitted{JobId("child"), "", child, 0, 0}, as(2, "parent"));
  see(at_second(10), JobSubmitted{JobId("step"), "", step, 0, 0}, as(3));
  see(at_second(11), JobDeleted{JobId("parent"), "ann", "", 1});
  ASSERT_THAT(all<JobGone>(), SizeIs(1));
  for (const char* job : {"child", "step"})
    see(at_second(12), JobFinished{JobId(job), JobStatus::canceled, {}});
  EXPECT_EQ(all<JobEnded>().at(0).job.parent, JobId(""));
  EXPECT_EQ(all<JobEnded>().at(1).job.parent, JobId("parent"));
}

TEST_F(FoldTest, TheReasonOfTheEndIsKeptAsData) {
  see(at_second(10), JobSubmitted{JobId("job"), "", spec_of({"job"}), 0, 0}, as(1));
  ExitReport report;
  report.cause = Cause::canceled;
  report.why = JobCanceled{told("ann")};
  see(at_second(12), JobFinished{JobId("job"), JobStatus::canceled, report});
  EXPECT_EQ(all<JobEnded>().at(0).job.why, Why(JobCanceled{told("ann")}));
}

}  // namespace
}  // namespace lockstep::archive
