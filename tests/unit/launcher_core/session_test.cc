// Who speaks for a node, and what a full report proves.

#include "tests/unit/launcher_core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Session : ::testing::Test {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobId job;
  AttemptId first;

  void run_job() {
    job = launcher.submit(job_spec("job"));
    first = attempt(job);
    launcher.observe(n1, first, PartState::running);
  }
};

TEST_F(Session, of_an_unknown_key_is_refused) {
  FakeNode stranger = n1;
  stranger.key = PublicKey("stranger");
  launcher.send_session(stranger);
  EXPECT_THAT(launcher.expect_one<RefuseSession>().reason, HasSubstr("not known"));
}

TEST_F(Session, that_claims_another_nodes_id_is_refused) {
  FakeNode liar = launcher.join("n2");
  liar.id = n1.id;
  launcher.send_session(liar);
  EXPECT_THAT(launcher.expect_one<RefuseSession>().reason, HasSubstr("belongs to node n2"));
}

TEST_F(Session, a_new_one_alone_proves_nothing) {
  run_job();
  launcher.restart_agent(n1, {report(first, PartState::running)});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::running);
  EXPECT_THAT(launcher.facts<PartGone>(), IsEmpty());
}

TEST_F(Session, an_agent_restarted_twice_in_a_row_loses_nothing) {
  run_job();
  launcher.restart_agent(n1, {report(first, PartState::running)});
  launcher.drop_notices();
  launcher.restart_agent(n1, {report(first, PartState::running)});
  launcher.drop_notices();
  launcher.finished(n1, first, node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST_F(Session, a_full_report_that_lacks_a_known_part_proves_its_runner_gone) {
  run_job();
  launcher.restart_agent(n1, {});
  launcher.drop_notices();
  EXPECT_EQ(launcher.facts<PartGone>().at(0).cause, Cause::runner_lost);
  EXPECT_EQ(launcher.placed_on(attempt(job, 2)), std::vector<NodeId>{n1.id});
}

TEST_F(Session, a_part_the_node_never_spoke_of_is_simply_sent_again) {
  job = launcher.submit(job_spec("job"));
  launcher.restart_agent(n1, {});
  launcher.drop_notices();
  EXPECT_THAT(launcher.facts<PartGone>(), IsEmpty());
  EXPECT_TRUE(launcher.assigned(n1, attempt(job)));
}

TEST_F(Session, a_doubled_opening_proves_nothing) {
  run_job();
  launcher.open(n1, {});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::running) << "it was written before the part began";
}

TEST_F(Session, a_reboot_faster_than_the_heartbeat_ends_what_ran_and_retries_it) {
  run_job();
  launcher.reboot(n1);
  launcher.drop_notices();
  const ExitReport report = launcher.facts<AttemptEnded>().at(0).report;
  EXPECT_EQ(report.cause, Cause::node_lost);
  EXPECT_THAT(report.message, HasSubstr("rebooted"));
  EXPECT_TRUE(launcher.assigned(n1, attempt(job, 2)));
  launcher.run_solo(n1, attempt(job, 2), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST_F(Session, a_reboot_ends_even_a_part_that_was_never_reported) {
  job = launcher.submit(job_spec("job"));
  launcher.reboot(n1);
  launcher.drop_notices();
  EXPECT_EQ(launcher.facts<PartGone>().size(), 1U) << "it may have run before the reboot";
}

TEST_F(Session, what_finished_before_a_reboot_counts) {
  run_job();
  PartReport end = report(first, PartState::finished);
  end.exit = node_exit({rank_exit(0)});
  launcher.reboot(n1, {end});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST_F(Session, logs_that_a_full_report_no_longer_has_are_given_up) {
  run_job();
  NodeExitReport exit = node_exit({rank_exit(0)});
  exit.logs = {{0, 9, 0}};
  launcher.finished(n1, first, exit);
  launcher.expect_one<AwaitLogs>();
  launcher.restart_agent(n1, {});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST_F(Session, late_messages_of_a_replaced_one_are_ignored) {
  run_job();
  const FakeNode before = n1;
  launcher.restart_agent(n1, {report(first, PartState::running)});
  launcher.drop_notices();
  const std::size_t facts = launcher.all_facts().size();
  launcher.send_session(before);
  launcher.send(HeartbeatInput{before.key, {before.id, before.session, 0, 0}});
  PartReport end = report(first, PartState::finished);
  end.exit = node_exit({rank_exit(0, Cause::exit_code, 1)});
  launcher.send(ObservedInput{before.key, {before.id, before.session, 9, {end}, {}}});
  EXPECT_EQ(launcher.all_facts().size(), facts);
  EXPECT_EQ(launcher.status(job), JobStatus::running);
}

// An agent was started twice in a row, and the first start's word was on its way for long.
TEST_F(Session, one_of_an_earlier_start_that_was_never_accepted_is_ignored) {
  run_job();
  FakeNode earlier = n1, later = n1;
  earlier.session = SessionId(n1.session.value + 1);
  later.session = SessionId(n1.session.value + 2);
  launcher.open(later, {report(first, PartState::running)});
  launcher.drop_notices();
  const std::size_t facts = launcher.all_facts().size();
  launcher.send_session(earlier);
  EXPECT_EQ(launcher.all_facts().size(), facts);
  EXPECT_EQ(launcher.status(job), JobStatus::running);
  launcher.beat(later);
  launcher.drop_notices();
}

TEST_F(Session, two_that_both_go_on_talking_are_a_cloned_image_and_both_are_refused) {
  FakeNode clone = n1;
  clone.session = SessionId(0xc10e);
  clone.boot = BootId("boot-of-the-clone");
  launcher.open(clone);
  launcher.drop_notices();
  std::vector<RefuseSession> refused;
  for (int second = 0; second < 30 && refused.empty(); ++second) {
    launcher.tick(seconds(1));
    launcher.drop_notices();
    launcher.beat(clone);
    launcher.drop_notices();
    launcher.send(HeartbeatInput{n1.key, {n1.id, n1.session, 0, 0}});
    refused = launcher.take<RefuseSession>();
  }
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_NE(refused[0].session, refused[1].session);
  EXPECT_THAT(refused[0].reason, HasSubstr("two agents speak as node n1"));
  EXPECT_THAT(launcher.core->node_view("n1").value().reason, HasSubstr("cloned"));
  EXPECT_EQ(launcher.liveness(n1), Liveness::unknown);
  launcher.send_session(clone);
  launcher.expect_one<RefuseSession>();
  // One of them is started again: that one is the node.
  launcher.restart_agent(n1, {});
  EXPECT_EQ(launcher.liveness(n1), Liveness::alive);
}

TEST_F(Session, a_heartbeat_behind_the_desired_revision_gets_it_again) {
  launcher.submit(job_spec("job"));
  const std::uint64_t revision = launcher.core->desired_for(n1.id).revision;
  launcher.send(HeartbeatInput{n1.key, {n1.id, n1.session, revision - 1, 0}});
  launcher.expect_one<AckHeartbeat>();
  EXPECT_EQ(launcher.expect_one<SendDesired>().node, n1.id);
  launcher.send(HeartbeatInput{n1.key, {n1.id, n1.session, revision, 0}});
  launcher.expect_one<AckHeartbeat>();
}

TEST_F(Session, reports_of_attempts_that_are_not_the_nodes_are_ignored) {
  FakeNode n2 = launcher.join("n2");
  run_job();
  const std::size_t facts = launcher.all_facts().size();
  launcher.finished(n2, first, node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.expect_one<ReportRefused>().node, n2.id) << "for the audit";
  launcher.finished(n1, attempt(job, 7), node_exit({rank_exit(0)}));
  launcher.finished(n1, attempt(JobId("ghost")), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.all_facts().size(), facts);
}

}  // namespace
}  // namespace lockstep::launcher
