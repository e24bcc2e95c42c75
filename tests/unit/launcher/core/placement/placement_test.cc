// Where jobs are placed: resources, sharing, networks, and what stays over attempts.

#include "common/domain/why/nodes/placement.h"
#include "common/domain/why/nodes/fit.h"
#include "common/domain/why/nodes/nodes.h"
#include "common/domain/why/ranks/parts.h"
#include "tests/unit/launcher/core/launcher_fixture.h"
#include "tests/unit/support/print_why.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

JobSpec part_of_node(std::string name, int cpus, Bytes memory, int gpus) {
  JobSpec spec = job_spec(std::move(name));
  spec.resources.cpus = cpus;
  spec.resources.memory = memory;
  spec.resources.gpus = gpus;
  return spec;
}

TEST(Placement, WithoutARequestAJobGetsTheWholeNode) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1", inventory(4, gibibytes(8), 2));
  const JobId job = launcher.submit(job_spec("whole"));
  const Allotment all = launcher.assignment(n1, attempt(job)).allotment;
  EXPECT_THAT(all.cpus, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(all.gpus, ElementsAre(0, 1));
  EXPECT_EQ(all.memory, gibibytes(8));
  const JobId other = launcher.submit(part_of_node("small", 1, mebibytes(1), 0));
  EXPECT_EQ(launcher.status(other), JobStatus::queued);
  EXPECT_THAT(launcher.view(other).reason, HasSubstr("held as a whole by job 'whole'"));
}

TEST(Placement, PartialRequestsShareANodeWithoutOverlap) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1", inventory(4, gibibytes(8), 2));
  const JobId a = launcher.submit(part_of_node("a", 2, gibibytes(4), 1));
  const JobId b = launcher.submit(part_of_node("b", 2, gibibytes(4), 1));
  const JobId c = launcher.submit(part_of_node("c", 1, gibibytes(1), 0));
  EXPECT_THAT(launcher.assignment(n1, attempt(a)).allotment.cpus, ElementsAre(0, 1));
  EXPECT_THAT(launcher.assignment(n1, attempt(b)).allotment.cpus, ElementsAre(2, 3));
  EXPECT_THAT(launcher.assignment(n1, attempt(b)).allotment.gpus, ElementsAre(1));
  EXPECT_THAT(launcher.view(c).reason, HasSubstr("has 0 of its 4 cpus free, 1 asked for"));
  launcher.run_solo(n1, attempt(a), node_exit({rank_exit(0)}));
  EXPECT_THAT(launcher.assignment(n1, attempt(c)).allotment.cpus, ElementsAre(0));
}

TEST(Placement, ANodeWhoseOperatorAllowsLessTakesNoJobThatAsksForMore) {
  TestLauncher launcher;
  Inventory strict = inventory();
  strict.caps.pids = 8'192;
  FakeNode n1 = launcher.join("n1", strict);
  JobSpec spec = job_spec("many");
  spec.limits.pids = 8'193;
  const JobId many = launcher.submit(spec);
  EXPECT_EQ(launcher.status(many), JobStatus::queued);
  EXPECT_THAT(launcher.view(many).reason,
              HasSubstr("allows a job at most 8,192 processes a rank, 8,193 requested "
                        "(lockstep-agent --max-pids-limit)"));
  FakeNode n2 = launcher.join("n2");
  EXPECT_EQ(launcher.assignment(n2, attempt(many)).spec.limits.pids, 8'193);
}

TEST(Placement, ANodeThatOffersLessThanIsHeldOfItTakesNothingMore) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1", inventory(4, gibibytes(8), 2));
  const JobId a = launcher.submit(part_of_node("a", 3, gibibytes(6), 2));
  n1.inventory = inventory(2, gibibytes(4), 1);
  launcher.restart_agent(n1, {report(attempt(a), PartState::running)});
  launcher.drop_notices();
  const JobId b = launcher.submit(part_of_node("b", 1, gibibytes(1), 0));
  EXPECT_THAT(launcher.view(b).reason, HasSubstr("has 0 of its 2 cpus free, 1 asked for"));
  launcher.run_solo(n1, attempt(a), node_exit({rank_exit(0)}));
  EXPECT_THAT(launcher.assignment(n1, attempt(b)).allotment.cpus, ElementsAre(0));
}

TEST(Placement, WhatIsPassedOverComesBeforeWhatIsChosen) {
  TestLauncher launcher;
  std::vector<FakeNode> nodes;
  for (const char* name : {"n1", "n2", "n3"}) nodes.push_back(launcher.join(name));
  launcher.submit(job_spec("first"));
  const JobId second = launcher.submit(job_spec("second"));
  EXPECT_THAT(launcher.placed_on(attempt(second)), ElementsAre(nodes[1].id));
  const auto& why = launcher.core->state().attempt(attempt(second))->why;
  ASSERT_EQ(why.size(), 2U);
  EXPECT_EQ(why[0], Why(PlacedOnNode{0, "n2", 4, gibibytes(8), 0, false}));
  EXPECT_EQ(why[1], Why(NodeSkipped{"n1", HeldAsAWhole{JobId("first")}}));
}

TEST(Placement, ABusyNodeThatWasPassedOverIsSaidInFewWords) {
  TestLauncher launcher;
  launcher.join("n1", inventory(2, gibibytes(8), 0));
  launcher.join("n2", inventory(2, gibibytes(8), 0));
  launcher.submit(part_of_node("first", 1, gibibytes(1), 0));
  const JobId second = launcher.submit(part_of_node("second", 2, gibibytes(1), 0));
  const auto& why = launcher.core->state().attempt(attempt(second))->why;
  ASSERT_EQ(why.size(), 2U);
  const NodeHasTooLittleFree busy{NodeAmount::cpus, attempt(JobId("first")), false};
  EXPECT_EQ(why[1], Why(NodeSkipped{"n1", busy}));
}

TEST(Placement, MemoryIsSharedOutToo) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  launcher.submit(part_of_node("a", 1, gibibytes(6), 0));
  const JobId b = launcher.submit(part_of_node("b", 1, gibibytes(3), 0));
  EXPECT_THAT(launcher.view(b).reason, HasSubstr("has 2.0 GiB of its 8.0 GiB memory free"));
}

TEST(Placement, WhatAJobDoesNotNameItHoldsAllOfAndThatIsSaid) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1", inventory(4, gibibytes(8), 2));
  JobSpec spec = job_spec("a");
  spec.resources.cpus = 1;
  const JobId a = launcher.submit(spec);
  EXPECT_EQ(launcher.assignment(n1, attempt(a)).allotment.memory, gibibytes(8));
  const JobId b = launcher.submit(part_of_node("b", 1, gibibytes(1), 0));
  EXPECT_THAT(launcher.view(b).reason,
              HasSubstr("n1 has 0 B of its 8.0 GiB memory free, 1.0 GiB asked for (a.1 holds all "
                        "memory of the node, because it was submitted without --memory; with "
                        "--memory, other jobs could use the rest)"));
  launcher.cancel(b);
  JobSpec other = spec;
  other.name = "c";
  other.resources.gpus = 0;
  const JobId c = launcher.submit(other);
  EXPECT_THAT(launcher.view(c).reason, HasSubstr("all (the job gives no amount) asked for"));
}

TEST(Placement, AGangIsPlacedWholeByNodeIdOrNotAtAll) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId blocker = launcher.submit(job_spec("blocker"));
  const JobId gang = launcher.submit(job_spec("gang", 2));
  EXPECT_THAT(launcher.placed_on(attempt(gang)), IsEmpty());
  EXPECT_THAT(launcher.core->desired_for(n2.id).assignments, IsEmpty());
  launcher.run_solo(n1, attempt(blocker), node_exit({rank_exit(0)}));
  EXPECT_THAT(launcher.placed_on(attempt(gang)), ElementsAre(n1.id, n2.id));
  EXPECT_EQ(launcher.assignment(n2, attempt(gang)).node_rank, 1);
}

TEST(Placement, AGangLiesWithinOneNetwork) {
  TestLauncher launcher;
  Inventory east = inventory(), west = inventory();
  east.network = "east";
  west.network = "west";
  FakeNode n1 = launcher.join("n1", east);
  FakeNode n2 = launcher.join("n2", west);
  const JobId gang = launcher.submit(job_spec("gang", 2));
  EXPECT_EQ(launcher.status(gang), JobStatus::queued);
  EXPECT_THAT(launcher.view(gang).reason, HasSubstr("in one network"));
  FakeNode n3 = launcher.join("n3", west);
  EXPECT_THAT(launcher.placed_on(attempt(gang)), ElementsAre(n2.id, n3.id));
}

TEST(Placement, ALoopbackNodeJoinsGangsOnlyOnItsOwnHost) {
  TestLauncher launcher;
  Inventory local = inventory();
  local.address = "127.0.0.1";
  local.address_is_loopback = true;
  local.host_id = "laptop";
  FakeNode n1 = launcher.join("n1", local);
  FakeNode n2 = launcher.join("n2");
  const JobId gang = launcher.submit(job_spec("gang", 2));
  EXPECT_EQ(launcher.status(gang), JobStatus::queued) << "n2 cannot reach n1";
  FakeNode n3 = launcher.join("n3", local);
  EXPECT_THAT(launcher.placed_on(attempt(gang)), ElementsAre(n1.id, n3.id));
  const JobId solo = launcher.submit(job_spec("solo"));
  EXPECT_THAT(launcher.placed_on(attempt(solo)), ElementsAre(n2.id));
}

TEST(Placement, RanksKeepTheirNodesInTheNextAttempt) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  FakeNode n3 = launcher.join("n3");
  const JobId gang = launcher.submit(job_spec("gang", 2));
  EXPECT_THAT(launcher.placed_on(attempt(gang)), ElementsAre(n1.id, n2.id));
  // n1, which holds rank 0, is at fault: n3 takes its place, and n2 stays node rank 1.
  launcher.finished(n1, attempt(gang), node_failure(Cause::start_failed, "no disk"));
  launcher.finished(n2, attempt(gang), node_exit({terminated(1)}));
  EXPECT_THAT(launcher.placed_on(attempt(gang, 2)), ElementsAre(n3.id, n2.id));
}

TEST(Placement, ANodeThatFailedIsUsedAgainWhenThereIsNoOther) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId gang = launcher.submit(job_spec("gang", 2));
  launcher.finished(n2, attempt(gang), node_failure(Cause::start_failed, "no disk"));
  launcher.finished(n1, attempt(gang), node_exit({terminated(0)}));
  EXPECT_THAT(launcher.placed_on(attempt(gang, 2)), ElementsAre(n1.id, n2.id));
}

TEST(Placement, ADrainingNodeGetsNothingNew) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  launcher.send(DrainInput{launcher.next_reply(), "n1", true, "new disk"});
  launcher.expect_one<ReplyDone>();
  const JobId job = launcher.submit(job_spec("job"));
  EXPECT_THAT(launcher.placed_on(attempt(job)), ElementsAre(n2.id));
  const JobId pair = launcher.submit(job_spec("pair", 2));
  EXPECT_THAT(launcher.view(pair).reason,
              HasSubstr("n1 is draining (new disk); `lockstep node resume n1` lets it take "
                        "work again"));
  launcher.run_solo(n2, attempt(job), node_exit({rank_exit(0)}));
  launcher.send(DrainInput{launcher.next_reply(), "n1", false, ""});
  launcher.expect_one<ReplyDone>();
  launcher.drop_notices();
  EXPECT_THAT(launcher.placed_on(attempt(pair)), ElementsAre(n1.id, n2.id));
}

TEST(Placement, ANodeWhoseDiskIsLowGetsNothingNewAndKeepsWhatItHas) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1", inventory(4, gibibytes(8), 2));
  const JobId before = launcher.submit(part_of_node("before", 1, mebibytes(1), 0));
  EXPECT_EQ(launcher.assignment(n1, attempt(before)).attempt, attempt(before));
  const auto beat = [&](const Why& low_disk) {
    const std::uint64_t revision = launcher.core->desired_for(n1.id).revision;
    launcher.send(HeartbeatInput{n1.key, {n1.id, n1.session, revision, n1.sequence, 0, low_disk}});
    EXPECT_EQ(launcher.expect_one<AckHeartbeat>().session, n1.session);
  };
  beat(DiskIsLow{gibibytes(5), "/home"});
  const JobId after = launcher.submit(part_of_node("after", 1, mebibytes(1), 0));
  EXPECT_EQ(launcher.status(after), JobStatus::queued);
  EXPECT_THAT(launcher.view(after).reason, HasSubstr("takes no new work: its disk is low"));
  EXPECT_NE(launcher.status(before), JobStatus::queued);
  beat({});
  EXPECT_FALSE(launcher.take<SendDesired>().empty());
  EXPECT_FALSE(launcher.take<JobChanged>().empty());
  EXPECT_EQ(launcher.assignment(n1, attempt(after)).attempt, attempt(after));
}

TEST(Placement, ExplainsItself) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId held = launcher.submit(job_spec("held"));
  const JobId pair = launcher.submit(job_spec("pair", 2));
  const auto lines = launcher.explain(pair).lines;
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("n1 is held as a whole by job 'held'")));
  EXPECT_THAT(lines, ::testing::Contains(HasSubstr("n2 could run the job now")));
  EXPECT_THAT(launcher.explain(held).lines,
              ::testing::Contains(HasSubstr("node rank 0: n1 (4 cpus")));
}

}  // namespace
}  // namespace lockstep::launcher
