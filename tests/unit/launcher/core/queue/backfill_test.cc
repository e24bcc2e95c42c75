// What starts before the head of a queue, and what is kept for it.

#include "common/domain/why/jobs/waits.h"
#include "launcher/core/queue/reservation.h"
#include "launcher/words/why.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

JobSpec limited(const std::string& name, Duration timeout, int nodes = 1) {
  JobSpec spec = job_spec(name, nodes);
  spec.timeout = timeout;
  return spec;
}

JobSpec with_cpus(JobSpec spec, int cpus) {
  spec.resources.cpus = cpus;
  spec.resources.memory = gibibytes(1);
  spec.resources.gpus = 0;
  return spec;
}

std::string explained(const TestLauncher& launcher, const JobId& job) {
  std::string text;
  const ExplainView explanation = launcher.explain(job);
  for (const std::string& line : explanation.lines) text += line + "\n";
  return text;
}

// Of the head.
ExpectedStart start_of(const Why& why) {
  const auto* head = why.as<WaitsAtHead>();
  EXPECT_NE(head, nullptr);
  return head == nullptr ? ExpectedStart{} : head->start;
}

bool runs(const TestLauncher& launcher, const JobId& job) {
  return launcher.status(job) == JobStatus::preparing;
}

TEST(Backfill, AJobThatEndsInTimeStartsBeforeTheHead) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId first = launcher.submit(limited("first", minutes(10)));
  const JobId pair = launcher.submit(job_spec("pair", 2));
  const Why reserved = launcher.why(pair);
  EXPECT_EQ(start_of(reserved),
            (ExpectedStart{launcher.now + minutes(10) + kPreparation + launcher.config.stop_grace,
                           JobReachesItsLimit{first}}));
  const JobId none = launcher.submit(job_spec("none"));
  const JobId slow = launcher.submit(limited("slow", minutes(11)));
  const JobId quick = launcher.submit(limited("quick", minutes(10)));
  EXPECT_FALSE(runs(launcher, none)) << "it has no time limit";
  EXPECT_FALSE(runs(launcher, slow));
  EXPECT_TRUE(runs(launcher, quick));
  EXPECT_EQ(launcher.why(pair), reserved) << "the head does not start later";
  EXPECT_THAT(words::text_of(launcher.core->state().attempt(attempt(quick))->why.back()),
              HasSubstr("went before job 'pair'"));
  launcher.run_solo(n2, attempt(quick), node_exit({rank_exit(0)}));
  EXPECT_FALSE(runs(launcher, none));
  launcher.run_solo(n1, attempt(first), node_exit({rank_exit(0)}));
  EXPECT_TRUE(runs(launcher, pair));
}

TEST(Backfill, ExplainNamesNoNodeThatIsKept) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  launcher.submit(limited("first", minutes(10)));
  launcher.submit(job_spec("pair", 2));
  const JobId none = launcher.submit(job_spec("none"));
  EXPECT_EQ(explained(launcher, none),
            "position 2 in the queue (priority medium): waits behind job 'pair', which waits for 2 "
            "nodes: 1 of them is free now (n1 is held as a whole by job 'first'); starts at "
            "2023-11-14T22:23:40.000Z at the latest, when job 'first' reaches its time limit\n"
            "ahead of it: job 'pair'\n"
            "with a limits.timeout of at most 10m00s it could start before job 'pair'\n"
            "asks for 1 node; target local:\n"
            "  n1 is held as a whole by job 'first'\n"
            "  n2 is kept for job 'pair'\n");
}

TEST(Backfill, AJobWithoutALimitUsesWhatTheHeadDoesNotNeed) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  FakeNode n3 = launcher.join("n3");
  launcher.submit(limited("a", minutes(10)));
  launcher.submit(limited("b", minutes(10)));
  const JobId pair = launcher.submit(job_spec("pair", 2));
  EXPECT_EQ(launcher.status(pair), JobStatus::queued);
  const JobId none = launcher.submit(job_spec("none"));
  EXPECT_TRUE(runs(launcher, none)) << "n1 and n2 are free by then";
}

// Seed 3107 of the simulation: a node was UNKNOWN for a moment, and a job of nearly an hour went
// before the head, which needs that node.
TEST(Backfill, ANodeThatIsSilentForAMomentIsStillKeptForTheHead) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  FakeNode n3 = launcher.join("n3");
  const JobId first = launcher.submit(limited("first", minutes(10)));
  launcher.pass(seconds(4), {&n1, &n3});
  ASSERT_EQ(launcher.liveness(n2), Liveness::unknown);
  const JobId three = launcher.submit(job_spec("three", 3));
  EXPECT_EQ(start_of(launcher.why(three)).until, JobReachesItsLimit{first});
  const JobId slow = launcher.submit(limited("slow", minutes(50)));
  EXPECT_FALSE(runs(launcher, slow));
  const JobId quick = launcher.submit(limited("quick", minutes(5)));
  EXPECT_TRUE(runs(launcher, quick));
}

TEST(Backfill, NodesThatTheHeadCannotUseAreForOthers) {
  TestLauncher launcher;
  FakeNode big = launcher.join("big", inventory(8));
  FakeNode small = launcher.join("small", inventory(2));
  launcher.submit(with_cpus(job_spec("running"), 8));
  const JobId wide = launcher.submit(with_cpus(job_spec("wide"), 4));
  const JobId narrow = launcher.submit(with_cpus(job_spec("narrow"), 2));
  EXPECT_EQ(launcher.status(wide), JobStatus::queued);
  EXPECT_EQ(launcher.placed_on(attempt(narrow)), std::vector<NodeId>{small.id});
}

TEST(Backfill, OfANodeThatIsKeptOthersUseTheRest) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1", inventory(8));
  launcher.submit(with_cpus(limited("running", minutes(10)), 4));
  const JobId wide = launcher.submit(with_cpus(job_spec("wide"), 6));
  const JobId two = launcher.submit(with_cpus(job_spec("two"), 2));
  const JobId more = launcher.submit(with_cpus(job_spec("more"), 1));
  EXPECT_EQ(launcher.status(wide), JobStatus::queued);
  EXPECT_TRUE(runs(launcher, two)) << "6 and 2 cpus fit beside each other when running has ended";
  EXPECT_FALSE(runs(launcher, more));
}

TEST(Backfill, WhileNoLimitSaysWhenTheHeadStartsOnlyShortJobsGoFirst) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId first = launcher.submit(job_spec("first"));
  const JobId pair = launcher.submit(job_spec("pair", 2));
  const ExpectedStart unknown{{}, JobHasNoLimit{first}};
  EXPECT_EQ(start_of(launcher.why(pair)), unknown);
  const JobId day = launcher.submit(limited("day", minutes(24 * 60)));
  const JobId hour = launcher.submit(limited("hour", minutes(59)));
  EXPECT_FALSE(runs(launcher, day));
  EXPECT_TRUE(runs(launcher, hour));
  EXPECT_FALSE(start_of(launcher.why(pair)).at);
}

// The head's user gets a greater share by a job that goes before it.
TEST(Backfill, TheHeadStaysTheHead) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  FakeNode n3 = launcher.join("n3");
  const JobId first = launcher.submit(limited("first", minutes(10)));
  const JobId trio = launcher.submit(job_spec("trio", 3));
  launcher.submit(limited("quick", minutes(5)));
  JobSpec other = job_spec("other");
  other.submitter = "bob";
  const JobId of_bob = launcher.submit(other);
  EXPECT_FALSE(runs(launcher, of_bob));
  EXPECT_EQ(launcher.view(trio).queue_position, 1);
  EXPECT_EQ(launcher.facts<JobAtHead>().size(), 1U);
  launcher.restart();
  launcher.open(n1, {report(attempt(first), PartState::running)});
  launcher.drop_notices();
  launcher.open(n2, {report(attempt(JobId("quick")), PartState::running)});
  launcher.drop_notices();
  launcher.open(n3);
  launcher.drop_notices();
  EXPECT_FALSE(runs(launcher, of_bob)) << "who is the head is a fact";
  EXPECT_EQ(launcher.view(trio).queue_position, 1);
  EXPECT_THAT(explained(launcher, of_bob), HasSubstr("n3 is kept for job 'trio'"));
  EXPECT_THAT(explained(launcher, of_bob), Not(HasSubstr("could run the job now")));
}

TEST(Backfill, AHeadThatIsCanceledLeavesItsNodesToOthers) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  launcher.submit(job_spec("first"));
  const JobId pair = launcher.submit(job_spec("pair", 2));
  const JobId none = launcher.submit(job_spec("none"));
  EXPECT_FALSE(runs(launcher, none));
  launcher.cancel(pair);
  EXPECT_TRUE(runs(launcher, none));
}

}  // namespace
}  // namespace lockstep::launcher
