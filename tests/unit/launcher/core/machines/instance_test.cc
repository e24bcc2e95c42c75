// Targets of type computeinstance: who and what starts and stops them, and what jobs wait for.

#include "common/domain/why/nodes/machines.h"
#include "common/domain/why/nodes/targets.h"
#include "launcher/core/machines/instances.h"

#include "common/io/zones/machine_zones.h"
#include "tests/unit/launcher/core/machines/elastic_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

CoreConfig with_zones() {
  CoreConfig config;
  config.zones = io::system_time_zones();
  return config;
}

ComputeSpec instance(Duration idle_time = {}) {
  ComputeSpec spec;
  spec.name = "lab";
  spec.type = ComputeType::computeinstance;
  spec.source = NodeSource::docker;
  spec.settings["image"] = {"debian:12"};
  spec.instance.idle_time = idle_time;
  return spec;
}

InstanceSchedule at(InstanceAction action, const std::string& cron, const std::string& zone = "") {
  return {action, true, {CronTrigger{cron}, {}, {}, zone}};
}

class Instances : public Elastic {
 protected:
  Instances() : Elastic(with_zones()) {}

  void ask(InstanceInput::Ask what, const std::string& by = "root") {
    launcher.send(InstanceInput{launcher.next_reply(), std::move(what), UserCaller{by}});
    stash();
  }
  std::string answer(InstanceInput::Ask what, const std::string& by = "root") {
    ask(std::move(what), by);
    drop_notices();
    const auto refusals = launcher.take<ReplyRefused>();
    launcher.take<ReplyCompute>();
    return refusals.empty() ? "granted" : refusals.front().message;
  }
  std::string state() const { return view().instance.state; }

  // Created, and its machine has joined.
  std::vector<FakeNode> started(const ComputeSpec& spec) {
    make(spec);
    auto nodes = all_join(only_call());
    return nodes;
  }
  // The provider removes the machine that leaves.
  void remove_machine() {
    const CallProvider call = only_call();
    EXPECT_EQ(call.verb, ProviderVerb::remove);
    for (const std::string& name : call.machines) absent(call, name);
    ends(call);
  }
};

TEST_F(Instances, IsOnUntilItIsStoppedAndKeepsItsSettings) {
  make(instance());
  EXPECT_EQ(state(), "Starting");
  EXPECT_EQ(machine("lab-1").why_data, Why(InstanceIsOn{InstanceByUser{"root"}}));
  auto nodes = all_join(only_call());
  EXPECT_EQ(state(), "Running");
  pass(minutes(5), nodes);
  EXPECT_EQ(state(), "Running") << "no idle time is set";
  EXPECT_EQ(answer(StopCompute{"lab"}), "granted");
  EXPECT_EQ(state(), "Stopping");
  EXPECT_EQ(answer(StopCompute{"lab"}), "granted") << "twice is once";
  remove_machine();
  EXPECT_EQ(state(), "Stopped");
  EXPECT_EQ(view().instance.why_data, Why(InstanceStoppedSo{InstanceByUser{"root"}}));
  EXPECT_EQ(launcher.facts<InstanceStopped>().size(), 1u);
  EXPECT_EQ(view().spec, instance());
  EXPECT_EQ(answer(StartCompute{"lab"}), "granted");
  EXPECT_THAT(only_call().machines, ElementsAre("lab-2"));
  EXPECT_EQ(state(), "Starting");
}

TEST_F(Instances, AJobForAStoppedInstanceWaitsAndSaysWhy) {
  auto nodes = started(instance());
  answer(StopCompute{"lab"});
  remove_machine();
  const JobId job = submit_gang("train", 1);
  EXPECT_THAT(
      why_it_waits(job),
      StartsWith(
          "the compute instance is stopped (by root); `lockstep compute start lab` starts it"));
  launcher.tick(minutes(5));
  drop_notices();
  EXPECT_THAT(calls(), IsEmpty()) << "a waiting job does not start it";
  answer(StartCompute{"lab"});
  EXPECT_THAT(why_it_waits(job), HasSubstr("1 machine is being made"));
  all_join(only_call());
  EXPECT_EQ(launcher.core->job_view(job)->status, JobStatus::preparing);
}

TEST_F(Instances, AStopNeverEndsAJobUnlessByForce) {
  auto nodes = started(instance());
  const JobId job = submit_gang("train", 1);
  EXPECT_THAT(answer(StopCompute{"lab"}), HasSubstr("runs job 'train'; wait for it, cancel it"));
  EXPECT_THAT(answer(RestartCompute{"lab"}), HasSubstr("(lockstep compute restart lab --force)"));
  EXPECT_EQ(state(), "Running");
  EXPECT_EQ(answer(StopCompute{"lab", true}), "granted");
  EXPECT_EQ(launcher.core->job_view(job)->status, JobStatus::queued);
  EXPECT_THAT(why_it_waits(job), HasSubstr("the compute instance is stopped (by root)"));
  const auto requeued = launcher.facts<JobRequeued>();
  ASSERT_EQ(requeued.size(), 1u);
  EXPECT_FALSE(requeued.front().charged);
  remove_machine();
  EXPECT_EQ(state(), "Stopped");
}

TEST_F(Instances, ARestartReplacesTheMachine) {
  auto nodes = started(instance());
  EXPECT_EQ(answer(RestartCompute{"lab"}), "granted");
  EXPECT_EQ(machine("lab-1").why_data, Why(MachineRestarted{"root"}));
  remove_machine();
  EXPECT_THAT(only_call().machines, ElementsAre("lab-2"));
  answer(StopCompute{"lab"});
  EXPECT_THAT(answer(RestartCompute{"lab"}), HasSubstr("is stopped; `lockstep compute start lab`"));
}

TEST_F(Instances, StopsAfterItsIdleTimeAndNeverUnderAJob) {
  auto nodes = started(instance(seconds(60)));
  pass(seconds(30), nodes);
  const JobId job = submit_gang("train", 1);
  pass(seconds(300), nodes);
  EXPECT_EQ(state(), "Running") << "it works";
  launcher.prepared(nodes[0], attempt(job));
  drop_notices();
  launcher.run_solo(nodes[0], attempt(job), node_exit({rank_exit(0)}));
  drop_notices();
  launcher.removed(nodes[0], attempt(job));
  drop_notices();
  pass(seconds(50), nodes);
  EXPECT_EQ(state(), "Running");
  pass(seconds(20), nodes);
  EXPECT_EQ(state(), "Stopping");
  EXPECT_EQ(view().instance.why_data, Why(InstanceStoppedSo{InstanceWasIdle{minutes(1)}}));
  EXPECT_EQ(view().instance.cause, InstanceCause::idle);
}

TEST_F(Instances, AMachineThatFailsIsMadeAgain) {
  make(instance(seconds(60)));
  const CallProvider call = only_call();
  fails(call, "lab-1", MachineFault::no_space);
  ends(call);
  EXPECT_EQ(state(), "Starting");
  EXPECT_TRUE(view().scaling.failure_data.is<MachineStepFailed>());
  launcher.tick(seconds(20));
  drop_notices();
  EXPECT_THAT(only_call().machines, ElementsAre("lab-2"));
}

TEST_F(Instances, SchedulesStartAndStopIt) {
  ComputeSpec spec = instance();
  spec.instance.schedules = {at(InstanceAction::stop, "*/2 * * * *"),
                             at(InstanceAction::start, "1-59/2 * * * *", "Asia/Kolkata")};
  auto nodes = started(spec);
  EXPECT_NE(view().instance.next_at.ns, 0);
  for (int i = 0; i < 2 && state() == "Running"; ++i) pass(seconds(60), nodes);
  ASSERT_EQ(state(), "Stopping");
  EXPECT_EQ(view().instance.why_data,
            Why(InstanceStoppedSo{InstanceBySchedule{{"*/2 * * * *", std::nullopt, ""}}}));
  EXPECT_EQ(view().instance.next_action, InstanceAction::start);
  EXPECT_THAT(view().instance.next_local, HasSubstr(" Asia/Kolkata"));
  remove_machine();
  const JobId job = submit_gang("train", 1);
  EXPECT_THAT(why_it_waits(job), HasSubstr("; its schedule does so at 20"));
  launcher.tick(seconds(60));
  drop_notices();
  EXPECT_EQ(state(), "Starting");
  EXPECT_EQ(launcher.facts<InstanceStarted>().size(), 1u);
}

TEST_F(Instances, AScheduledStopWaitsForTheJob) {
  ComputeSpec spec = instance();
  spec.instance.schedules = {at(InstanceAction::stop, "* * * * *")};
  auto nodes = started(spec);
  const JobId job = submit_gang("train", 1);
  pass(seconds(90), nodes);
  EXPECT_EQ(state(), "Stopping");
  EXPECT_EQ(launcher.core->job_view(job)->status, JobStatus::preparing) << "it goes on";
  EXPECT_THAT(calls(), IsEmpty());
  EXPECT_EQ(answer(StartCompute{"lab"}), "granted");
  EXPECT_EQ(state(), "Starting") << "a new machine is made when the old one is gone";
}

TEST_F(Instances, OfMissedTimesTheLastOneCountsOnce) {
  ComputeSpec spec = instance();
  spec.instance.schedules = {at(InstanceAction::stop, "0 * * * *"),
                             at(InstanceAction::start, "30 * * * *")};
  auto nodes = started(spec);
  answer(StopCompute{"lab"});
  remove_machine();
  // To shortly after a full hour, without a step in between.
  const auto past_hour = seconds(launcher.now.ns / 1'000'000'000 % 3600);
  launcher.restart(seconds(10 * 3600) - past_hour + seconds(60));
  launcher.tick();
  drop_notices();
  EXPECT_THAT(launcher.facts<InstanceStarted>(), IsEmpty()) << "the last time was a stop";
  EXPECT_EQ(state(), "Stopped");
  launcher.restart(seconds(1800));
  launcher.tick();
  drop_notices();
  EXPECT_EQ(launcher.facts<InstanceStarted>().size(), 1u);
  answer(StopCompute{"lab"});
  launcher.restart();
  launcher.tick();
  drop_notices();
  EXPECT_EQ(launcher.facts<InstanceStarted>().size(), 1u) << "somebody stopped it after that time";
}

TEST_F(Instances, ADisabledScheduleDoesNothingAndAChangedOneBeginsAnew) {
  ComputeSpec spec = instance();
  spec.instance.schedules = {at(InstanceAction::stop, "* * * * *")};
  spec.instance.schedules[0].enabled = false;
  auto nodes = started(spec);
  pass(seconds(180), nodes);
  EXPECT_EQ(state(), "Running");
  EXPECT_EQ(view().instance.next_at.ns, 0);
  spec.instance.schedules[0].enabled = true;
  Machines::ask(UpdateCompute{spec});
  launcher.expect_one<ReplyCompute>();
  drop_notices();
  EXPECT_EQ(state(), "Running") << "times before the change do not count";
  pass(seconds(61), nodes);
  EXPECT_EQ(state(), "Stopping");
}

TEST_F(Instances, WhoMayStartAndStop) {
  auto nodes = started(instance());
  launcher.send(
      PrincipalInput{{}, AddUser{"sam", "", {}, {Role::submitter, "default"}}, LauncherItself{}});
  drop_notices();
  launcher.take<ReplyDone>();
  EXPECT_THAT(answer(StopCompute{"lab"}, "sam"),
              HasSubstr("may not start or stop compute instances: that needs the role operator or "
                        "admin"));
  EXPECT_THAT(answer(StopCompute{"local"}), HasSubstr("target 'local' is of type local"));
  EXPECT_THAT(answer(StartCompute{"labs"}), HasSubstr("did you mean 'lab'?"));
}

TEST_F(Instances, RefusesWhatCannotBe) {
  ComputeSpec spec = instance();
  spec.instance.schedules = {at(InstanceAction::stop, "0 8 * * *", "Europe/Berln")};
  EXPECT_EQ(refused(CreateCompute{spec}),
            "schedules.compute_start_stop[0].trigger.time_zone: there is no time zone "
            "'Europe/Berln'; did you mean 'Europe/Berlin'?");
  spec.instance.schedules = {at(InstanceAction::stop, "0 25 * * *")};
  EXPECT_THAT(refused(CreateCompute{spec}),
              HasSubstr("schedules.compute_start_stop[0].trigger.expression: hour: '25' is not"));
  spec = instance();
  spec.scale.max_instances = 2;
  EXPECT_THAT(refused(CreateCompute{spec}), HasSubstr("is one machine"));
  make(instance());
  calls();
  JobSpec job = job_spec("gang", 2);
  job.compute = "lab";
  EXPECT_THAT(launcher.submit_refused(job).message,
              HasSubstr("is a compute instance, which has one"));
}

TEST_F(Instances, IsDeletedAlsoWhileItIsStopped) {
  auto nodes = started(instance());
  answer(StopCompute{"lab"});
  remove_machine();
  Machines::ask(DeleteCompute{"lab", false});
  launcher.expect_one<ReplyDone>();
  drop_notices();
  EXPECT_EQ(view().spec.name, "");
  EXPECT_THAT(answer(StartCompute{"lab"}), HasSubstr("there is no compute target 'lab'"));
}

}  // namespace
}  // namespace lockstep::launcher
