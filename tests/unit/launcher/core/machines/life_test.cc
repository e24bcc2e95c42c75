// Machines that end by themselves: what they cannot hold is not placed there, and what they cut off
// is tried again a bounded number of times.

#include "launcher/core/machines/life.h"
#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/ranks/parts.h"

#include "launcher/core/attempts/retry.h"

#include "tests/unit/launcher/core/machines/elastic_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class MachineLife : public Elastic {
 protected:
  static ComputeSpec target(const std::string& time = "") {
    ComputeSpec spec;
    spec.name = "lab";
    spec.type = ComputeType::amlcompute;
    spec.source = NodeSource::slurm;
    spec.settings["directory"] = {"/shared"};
    if (!time.empty()) spec.settings["time"] = {time};
    spec.scale = {Tier::dedicated, 0, 4, minutes(60)};
    return spec;
  }
  JobSpec job_for(const std::string& name, std::optional<Duration> timeout) {
    JobSpec spec = job_spec(name);
    spec.compute = "lab";
    spec.timeout = timeout;
    return spec;
  }
  JobId submit_for(const std::string& name, std::optional<Duration> timeout) {
    const JobId job = launcher.submit(job_for(name, timeout));
    drop_notices();
    return job;
  }
  // The machine that is due joins, with an allocation of a minute.
  FakeNode next_joins(Duration left = seconds(58)) {
    CallProvider call;
    for (const CallProvider& due : calls()) {
      if (due.verb == ProviderVerb::create) call = due;
      if (due.verb != ProviderVerb::remove) continue;
      for (const std::string& name : due.machines) absent(due, name);
      ends(due);
    }
    if (call.machines.empty()) call = only_call();
    FakeNode node =
        launcher.join_with(secret(call.machines.front()), call.machines.front(), inventory());
    drop_notices();
    ProviderEvent runs{ProviderEvent::Kind::running, call.machines.front()};
    runs.about = {{"job", "7"}};
    runs.ends = left;
    runs.lifetime = seconds(60);
    say(call, runs);
    ends(call);
    drop_notices();
    return node;
  }
  AttemptId last_attempt(const JobId& job) {
    return launcher.core->state().job(job)->attempts.back().id;
  }
  // Its ranks run until the machine's end, and the provider removes the machine.
  void runs_into_the_end(FakeNode& node, const JobId& job) {
    std::vector<FakeNode> alive{node};
    launcher.observe(node, last_attempt(job), PartState::running);
    pass(seconds(50), alive);
    NodeExitReport exit = node_exit({terminated(0)});
    exit.cause = Cause::canceled;
    exit.first_failed_rank.reset();
    exit.why = StoppedByOrder{StopReason::superseded};
    node.sequence = alive.front().sequence;
    PartReport end = report(last_attempt(job), PartState::finished);
    end.exit = exit;
    launcher.observe(node, end);
    drop_notices();
    launcher.send(LogsDurableInput{last_attempt(job), node.id});
    drop_notices();
  }
};

TEST_F(MachineLife, WhatNoMachineCanHoldIsRefusedWithBothNumbers) {
  make(target("1"));
  const Error refused = launcher.submit_refused(job_for("long", seconds(170)));
  EXPECT_THAT(refused.message, AllOf(HasSubstr("may run for 2m50s"), HasSubstr("ends after 1m"),
                                     HasSubstr("lockstep.slurm.time")));
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(MachineLife, ThePodsOfATargetMayEndByThemselves) {
  ComputeSpec spec = target();
  spec.source = NodeSource::kubernetes;
  spec.settings = {{"image", {"debian:12"}}, {"active_deadline_seconds", {"60"}}};
  make(spec);
  const Error refused = launcher.submit_refused(job_for("long", seconds(170)));
  EXPECT_THAT(refused.message,
              AllOf(HasSubstr("may run for 2m50s"), HasSubstr("ends after 1m"),
                    HasSubstr("--set lockstep.kubernetes.active_deadline_seconds=SECONDS")));
  submit_for("short", seconds(30));
  next_joins(seconds(57));
  EXPECT_EQ(launcher.facts<MachineCreated>().back().lifetime, seconds(60));
}

TEST_F(MachineLife, WhatItsProviderSaysCountsBeforeTheSettings) {
  make(target());
  submit_for("first", seconds(30));
  next_joins();
  EXPECT_THAT(launcher.submit_refused(job_for("long", seconds(170))).message,
              HasSubstr("ends after 1m"));
}

TEST_F(MachineLife, WhatIsLeftMustHoldTheJobElseAnotherMachineIsMade) {
  make(target("1"));
  submit_for("first", seconds(40));
  FakeNode first = next_joins();
  launcher.observe(first, last_attempt(JobId("first")), PartState::running);
  std::vector<FakeNode> alive{first};
  pass(seconds(25), alive);
  first.sequence = alive.front().sequence;
  launcher.finished(first, last_attempt(JobId("first")), node_exit({rank_exit(0)}));
  drop_notices();
  const JobId second = submit_for("second", seconds(40));
  EXPECT_EQ(launcher.status(second), JobStatus::queued);
  EXPECT_THAT(launcher.explain(second).lines, Contains(HasSubstr("and the job may run for 40")));
  FakeNode fresh = next_joins();
  EXPECT_THAT(launcher.placed_on(last_attempt(second)), ElementsAre(fresh.id));
}

TEST_F(MachineLife, AJobOfAMachinesWholeLifeGetsOneThatHasJustJoined) {
  make(target("1"));
  const JobId job = submit_for("whole", seconds(60));
  FakeNode node = next_joins(seconds(57));
  EXPECT_THAT(launcher.placed_on(last_attempt(job)), ElementsAre(node.id));
}

TEST_F(MachineLife, ItsEndIsAPreemptionUnchargedTwiceAndThenRefusedWithBothNumbers) {
  make(target("1"));
  const JobId job = submit_for("endless", std::nullopt);
  for (int end = 1; end <= 3; ++end) {
    FakeNode node = next_joins();
    ASSERT_EQ(last_attempt(job).number, static_cast<std::uint32_t>(end));
    runs_into_the_end(node, job);
    const Attempt& attempt = launcher.core->state().job(job)->attempts.back();
    ASSERT_TRUE(attempt.ended.has_value());
    EXPECT_EQ(attempt.ended->cause, Cause::preempted);
    EXPECT_EQ(attempt.ended->lifetime, seconds(60));
    ASSERT_TRUE(attempt.ended->why.is<NodePreempted>());
    EXPECT_EQ(attempt.ended->why.as<NodePreempted>()->why, Why(MachineEnds{seconds(60)}));
  }
  const auto requeued = launcher.facts<JobRequeued>();
  ASSERT_THAT(requeued, SizeIs(2));
  for (const JobRequeued& one : requeued) EXPECT_FALSE(one.charged);
  const JobView view = launcher.view(job);
  EXPECT_EQ(view.status, JobStatus::failed);
  EXPECT_THAT(view.reason, AllOf(HasSubstr("end after 1m"), HasSubstr("3 times"),
                                 HasSubstr("save checkpoints")));
}

TEST_F(MachineLife, AnAttemptThatSavedItsWorkDoesNotCount) {
  Job job;
  ExitReport report;
  report.cause = Cause::preempted;
  report.lifetime = seconds(60);
  for (std::uint32_t number = 1; number <= 5; ++number) {
    Attempt attempt;
    attempt.id = {JobId("job"), number};
    attempt.ended = report;
    attempt.parts.emplace_back();
    job.attempts.push_back(attempt);
  }
  EXPECT_FALSE(retry_after(job, report).has_value());
  job.attempts[4].parts[0].saved.emplace();
  const auto retry = retry_after(job, report);
  ASSERT_TRUE(retry.has_value());
  EXPECT_FALSE(retry->charged);
  job.attempts[4].parts[0].saved.reset();
  job.attempts[3].parts[0].saved.emplace();
  EXPECT_TRUE(retry_after(job, report).has_value()) << "the first end since then";
}

// The launcher was away when the time was over, and Slurm killed the agent.
TEST_F(MachineLife, ALossAtTheEndCountsAsTheEnd) {
  make(target("1"));
  const JobId job = submit_for("endless", std::nullopt);
  FakeNode node = next_joins();
  launcher.observe(node, last_attempt(job), PartState::running);
  drop_notices();
  launcher.restart(seconds(70));
  launcher.send(TickInput{});
  drop_notices();
  for (int i = 0; i < 80; ++i) {
    launcher.tick(seconds(1));
    drop_notices();
  }
  const auto requeued = launcher.facts<JobRequeued>();
  ASSERT_THAT(requeued, SizeIs(1));
  EXPECT_FALSE(requeued.front().charged);
  EXPECT_EQ(requeued.front().why, Why(UnchargedRetry{Uncharged::machine_ended}));
}

// A job of Slurm that is past its limit still runs for a moment.
TEST_F(MachineLife, OneOfWhichNothingIsLeftEndsNow) {
  make(target("1"));
  submit_for("late", std::nullopt);
  next_joins(seconds(0));
  const MachineCreated made = launcher.facts<MachineCreated>().back();
  EXPECT_EQ(made.lifetime, seconds(60));
  EXPECT_NE(made.ends, Instant());
  EXPECT_LE(made.ends, launcher.now);
}

TEST_F(MachineLife, AMachineWithoutALimitHoldsAnything) {
  make(target());
  const JobId job = submit_for("long", minutes(60 * 24 * 30));
  const CallProvider call = only_call();
  all_join(call);
  EXPECT_THAT(launcher.placed_on(last_attempt(job)), SizeIs(1));
  EXPECT_FALSE(launcher.facts<MachineCreated>().empty());
  EXPECT_EQ(launcher.facts<MachineCreated>().back().ends, Instant());
}

}  // namespace
}  // namespace lockstep::launcher
