// Targets of type amlcompute: how many machines there are, and why.

#include "common/domain/why/nodes/machines.h"
#include "launcher/core/machines/scaling.h"

#include <fmt/format.h>

#include "tests/unit/launcher/core/machines/elastic_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ComputeSpec cluster(int least, int most, Tier tier = Tier::dedicated) {
  ComputeSpec spec;
  spec.name = "lab";
  spec.type = ComputeType::amlcompute;
  spec.source = NodeSource::docker;
  spec.settings["image"] = {"debian:12"};
  spec.scale = {tier, least, most, seconds(120)};
  return spec;
}

TEST_F(Elastic, AQueueGetsItsMachinesInOneStep) {
  make(cluster(0, 4));
  EXPECT_THAT(calls(), IsEmpty()) << "nothing waits";
  const JobId job = submit_gang("train", 3);
  const CallProvider call = only_call();
  EXPECT_THAT(call.machines, ElementsAre("lab-1", "lab-2", "lab-3"));
  EXPECT_EQ(machine("lab-1").why_data, Why(JobsNeedMachine{1, job}));
  EXPECT_THAT(why_it_waits(job), HasSubstr("3 machines are being made"));
  all_join(call);
  EXPECT_EQ(launcher.core->job_view(job)->status, JobStatus::preparing);
}

TEST_F(Elastic, NeverMoreThanMaxInstancesAndAtLeastMin) {
  make(cluster(1, 2));
  EXPECT_THAT(only_call().machines, ElementsAre("lab-1"));
  for (int i = 0; i < 5; ++i) submit_gang("job" + std::to_string(i), 1);
  EXPECT_THAT(only_call().machines, ElementsAre("lab-2"));
  JobSpec spec = job_spec("wide", 3);
  spec.compute = "lab";
  EXPECT_THAT(launcher.submit_refused(spec).message,
              HasSubstr("needs 3 nodes, but target 'lab' has at most 2"));
  EXPECT_EQ(launcher.core->refusals(spec, LauncherItself{}).at(0).error.code,
            ErrorCode::unsatisfiable);
  EXPECT_TRUE(launcher.core->refusals(spec, LauncherItself{}, {Judging::What::all, true}).empty())
      << "an admin may raise it while the job waits";
}

TEST_F(Elastic, IdleMachinesGoAfterTheirTimeAndBusyOnesStay) {
  make(cluster(0, 3));
  const JobId gang = submit_gang("gang", 2);
  std::vector<FakeNode> nodes = all_join(only_call());
  drop_notices();
  const AttemptId attempt = launcher.core->state().job(gang)->last_attempt()->id;
  launcher.cancel(gang);
  drop_notices();
  for (FakeNode& node : nodes) {
    launcher.finished(node, attempt, node_exit({terminated(0)}));
    drop_notices();
  }
  for (FakeNode& node : nodes) {
    launcher.send(LogsDurableInput{attempt, node.id});
    drop_notices();
  }
  const JobId long_one = submit_gang("long", 1);
  pass(seconds(100), nodes);
  EXPECT_THAT(calls(), IsEmpty());
  pass(seconds(30), nodes);
  const CallProvider removal = only_call();
  EXPECT_EQ(removal.verb, ProviderVerb::remove);
  EXPECT_EQ(removal.machines.size(), 1U) << "the other one runs job 'long'";
  const Why why = machine(removal.machines.front()).why_data;
  ASSERT_TRUE(why.is<MachineIdle>());
  EXPECT_GE(why.as<MachineIdle>()->idle, seconds(120));
  EXPECT_FALSE(launcher.core->state().job(long_one)->last_attempt()->ended);
}

TEST_F(Elastic, AMachineThatNoJobNeedsAnyMoreIsGivenBackBeforeItIsMade) {
  make(cluster(0, 2));
  const JobId job = submit_gang("train", 1);
  const CallProvider create_call = only_call();
  say(create_call,
      ProviderEvent{ProviderEvent::Kind::pending, "lab-1", "", {}, ProviderSaid{"Resources"}});
  ends(create_call);
  EXPECT_EQ(machine("lab-1").state, "pending");
  EXPECT_EQ(machine("lab-1").waits_data, Why(ProviderSaid{"Resources"}));
  launcher.tick(seconds(10));
  drop_notices();
  const CallProvider again = only_call();
  EXPECT_EQ(again.verb, ProviderVerb::create) << "asked again";
  say(again,
      ProviderEvent{ProviderEvent::Kind::pending, "lab-1", "", {}, ProviderSaid{"Priority"}});
  ends(again);
  launcher.cancel(job);
  drop_notices();
  EXPECT_EQ(only_call().verb, ProviderVerb::remove);
  EXPECT_TRUE(machine("lab-1").why_data.is<MachineNotNeeded>());
}

TEST_F(Elastic, APendingMachineJoinsWithTheTokenOfItsLastCall) {
  make(cluster(0, 1));
  const JobId job = submit_gang("train", 1);
  const CallProvider first = only_call();
  say(first, ProviderEvent{ProviderEvent::Kind::pending, "lab-1"});
  ends(first);
  const FakeNode node = launcher.join_with(secret("lab-1"), "lab-1", inventory());
  EXPECT_EQ(machine("lab-1").state, "joined");
  EXPECT_EQ(launcher.core->job_view(job)->status, JobStatus::preparing);
}

ComputeSpec site_cluster(int most) {
  ComputeSpec spec = cluster(0, most);
  spec.source = NodeSource::command;
  spec.settings = {{"program", {"cloud"}}};
  return spec;
}

// As VMs of a cloud: ordered with the token of one call, running by the time of the next, and
// joined when they have booted.
TEST_F(Elastic, AMachineOfASiteMayJoinAfterItsProviderSaysThatItRuns) {
  make(site_cluster(1));
  const JobId job = submit_gang("train", 1);
  const CallProvider order = only_call();
  say(order, ProviderEvent{ProviderEvent::Kind::pending, "lab-1"});
  ends(order);
  launcher.tick(seconds(10));
  stash();
  CallProvider again = take_waiting().front();
  launcher.send(
      ProviderTokensInput{again.call, {{"lab-1", secret("another")}}, launcher.now + minutes(60)});
  launcher.expect_one<StartProvider>();
  running(again, "lab-1");
  ends(again);
  EXPECT_EQ(machine("lab-1").state, "created");
  launcher.tick(minutes(2));
  drop_notices();
  EXPECT_THAT(calls(), IsEmpty()) << "nothing is asked while it boots";
  launcher.join_with(secret("lab-1"), "lab-1", inventory());
  EXPECT_EQ(machine("lab-1").state, "joined");
  EXPECT_EQ(launcher.core->job_view(job)->status, JobStatus::preparing);
  EXPECT_EQ(launcher.core->state().tokens().count(secret("another")), 0U) << "it is of no use";
}

TEST_F(Elastic, MachinesThatRunAndNeverJoinAreGivenBackLessAndLessOften) {
  make(site_cluster(1));
  submit_gang("train", 1);
  std::vector<Instant> ordered;
  for (const std::string name : {"lab-1", "lab-2", "lab-3"}) {
    for (int tries = 0; tries < 1000; ++tries) {
      drop_notices();
      end_lists();
      if (has_calls()) break;
      launcher.tick(seconds(1));
    }
    const CallProvider order = only_call();
    ASSERT_THAT(order.machines, ElementsAre(name));
    ordered.push_back(launcher.now);
    running(order, name);
    ends(order);
    launcher.tick(minutes(15));
    drop_notices();
    end_lists();
    const Why failed = MachineStepFailed{"join", MachineFault::launcher_unreachable,
                                         MachineNotJoinedWithin{minutes(15)}};
    EXPECT_EQ(machine(name).why_data, Why(MachineNotMade{failed}));
    const CallProvider remove = only_call();
    ASSERT_EQ(remove.verb, ProviderVerb::remove);
    absent(remove, name);
    ends(remove);
  }
  EXPECT_GT(ordered[2] - ordered[1], ordered[1] - ordered[0]);
}

TEST_F(Elastic, ARestartMakesNoMachineForNodesThatAreNotHeardYet) {
  make(cluster(0, 3));
  submit_gang("first", 1);
  std::vector<FakeNode> nodes = all_join(only_call());
  drop_notices();
  launcher.restart();
  launcher.take<AllowNode>();
  launcher.take<AllowUser>();
  launcher.tick();
  drop_notices();
  for (const CallProvider& call : calls()) EXPECT_EQ(call.verb, ProviderVerb::list);
}

TEST_F(Elastic, AFailureIsGivenBackBackedOffAndShownWhereTheJobWaits) {
  make(cluster(0, 2));
  const JobId job = submit_gang("train", 2);
  const CallProvider first = only_call();
  say(first, ProviderEvent{ProviderEvent::Kind::error, "lab-1", "start", MachineFault::no_space,
                           ProviderSaid{"the disk is full"}});
  say(first, ProviderEvent{ProviderEvent::Kind::error, "lab-2", "start", MachineFault::no_space,
                           ProviderSaid{"the disk is full"}});
  ends(first);
  for (const CallProvider& removal : calls()) {
    EXPECT_EQ(removal.verb, ProviderVerb::remove);
    for (const std::string& name : removal.machines) absent(removal, name);
    ends(removal);
  }
  EXPECT_THAT(view().machines, IsEmpty());
  EXPECT_THAT(calls(), IsEmpty()) << "the back-off is not over";
  EXPECT_THAT(why_it_waits(job), HasSubstr("the last machine could not be made: start: the disk"));
  EXPECT_EQ(view().scaling.failure_data, Why(MachineStepFailed{"start", MachineFault::no_space,
                                                               ProviderSaid{"the disk is full"}}));
  launcher.tick(kFirstMachineBackoff);
  drop_notices();
  EXPECT_THAT(only_call().machines, ElementsAre("lab-3", "lab-4")) << "no name is used twice";
}

TEST_F(Elastic, AnUpdateTriesAgainAtOnceAlsoWithoutAChange) {
  make(cluster(0, 1));
  const JobId job = submit_gang("train", 1);
  const CallProvider first = only_call();
  say(first, ProviderEvent{ProviderEvent::Kind::error, "lab-1", "start", MachineFault::unsupported,
                           ProviderSaid{"no shell"}});
  ends(first);
  const CallProvider removal = only_call();
  absent(removal, "lab-1");
  ends(removal);
  EXPECT_THAT(why_it_waits(job), HasSubstr("or at once by `lockstep compute update lab`"));
  Machines::ask(UpdateCompute{cluster(0, 1)});
  launcher.expect_one<ReplyCompute>();
  drop_notices();
  EXPECT_THAT(only_call().machines, ElementsAre("lab-2"));
}

TEST_F(Elastic, ALostMachineOfLowPriorityCostsItsJobNothing) {
  make(cluster(0, 1, Tier::low_priority));
  const JobId job = submit_gang("train", 1);
  for (int round = 1; round <= 25; ++round) {  // more often than anything else is forgiven
    const CallProvider made = only_call();
    ASSERT_EQ(made.verb, ProviderVerb::create);
    const std::vector<FakeNode> nodes = all_join(made);
    drop_notices();
    for (int i = 0; i < 15; ++i) {
      launcher.tick(seconds(1));
      drop_notices();
    }
    const CallProvider removal = only_call();
    ASSERT_EQ(removal.verb, ProviderVerb::remove);
    for (const std::string& name : removal.machines) absent(removal, name);
    ends(removal);
    drop_notices();
  }
  EXPECT_EQ(launcher.core->state().job(job)->charged_retries, 0);
  EXPECT_EQ(launcher.core->job_view(job)->status, JobStatus::queued);
}

TEST_F(Elastic, AMachineWithLessThanAnEarlierOneSaysNothingOfTheNext) {
  make(cluster(0, 1));
  JobSpec spec = job_spec("train", 1);
  spec.compute = "lab";
  spec.resources.cpus = 2;
  Inventory good = inventory(), bad = inventory();
  good.cpus = {0, 1, 2, 3};
  bad.cpus = {0};
  const auto join_with = [&](const Inventory& what) {
    const CallProvider made = only_call();
    launcher.join_with(secret(made.machines.at(0)), made.machines.at(0), what);
    drop_notices();
    running(made, made.machines.at(0));
    ends(made);
  };
  const auto lose = [&] {
    for (int i = 0; i < 15; ++i) {
      launcher.tick(seconds(1));
      drop_notices();
    }
    const CallProvider removal = only_call();
    absent(removal, removal.machines.at(0));
    ends(removal);
  };
  launcher.submit(spec);
  drop_notices();
  join_with(good);
  lose();
  join_with(bad);
  lose();
  EXPECT_EQ(only_call().verb, ProviderVerb::create) << "another machine may have enough";
}

TEST_F(Elastic, OneMachineAloneDoesNotSayThatAnAccountIsMissingEverywhere) {
  make(cluster(0, 3));
  const JobId job = submit_gang("train", 1);
  std::vector<FakeNode> nodes;
  for (std::uint32_t number = 1; number <= 2; ++number) {
    const CallProvider call = only_call();
    ASSERT_EQ(call.verb, ProviderVerb::create) << "machine " << number;
    nodes.push_back(all_join(call).at(0));
    drop_notices();
    launcher.finished(nodes.back(), attempt(job, number),
                      node_failure(Cause::account_missing, "no user ada"));
    drop_notices();
  }
  EXPECT_THAT(calls(), IsEmpty()) << "two of two said so";
  EXPECT_THAT(why_it_waits(job), HasSubstr("no user ada"));
  // The machines are given back, and what they said stays.
  for (std::uint32_t number = 1; number <= 2; ++number) {
    launcher.send(LogsDurableInput{attempt(job, number), nodes[number - 1].id});
    drop_notices();
  }
  pass(seconds(240), nodes);
  for (const CallProvider& call : calls()) {
    ASSERT_EQ(call.verb, ProviderVerb::remove);
    for (const std::string& name : call.machines) absent(call, name);
    ends(call);
  }
  EXPECT_THAT(view().machines, IsEmpty());
  EXPECT_THAT(why_it_waits(job), HasSubstr("no user ada"));
  const std::string account = launcher.core->state().job(job)->spec.run_as;
  EXPECT_EQ(view().scaling.failure_data, Why(MachinesLackAccount{account, told("no user ada")}));
}

TEST_F(Elastic, WhoMaySubmitFromNowOnIsMadeKnownToContainersThatRun) {
  make(cluster(1, 1));
  const CallProvider first = only_call();
  all_join(first);
  const auto change = [&](PrincipalInput::Ask ask) {
    launcher.send(PrincipalInput{{}, std::move(ask), LauncherItself{}});
    launcher.take<ReplyDone>();
    drop_notices();
  };
  change(AddUser{"vic", "", {}, {Role::viewer, "default"}});
  EXPECT_THAT(calls(), IsEmpty()) << "no job runs as an account that only looks";
  change(ChangeRole{"vic", {Role::submitter, "default"}, false});
  const CallProvider again = only_call();
  EXPECT_EQ(again.verb, ProviderVerb::create);
  EXPECT_EQ(again.machines, first.machines);
}

// A launcher that was started again, with one machine of this source.
class MovedLauncher : public Elastic {
 protected:
  // The machines for which `create` is called when it is at another address.
  std::vector<std::string> told(NodeSource source) {
    ComputeSpec spec = cluster(1, 1);
    spec.source = source;
    if (source == NodeSource::slurm) spec.settings = {{"directory", {"/shared"}}};
    make(spec);
    all_join(only_call());
    launcher.restart(seconds(1));
    launcher.send(TickInput{});
    drop_notices();
    end_lists();
    EXPECT_FALSE(has_calls()) << "it may be where it was";
    launcher.send(LauncherMovedInput{});
    drop_notices();
    std::vector<std::string> machines;
    for (const CallProvider& call : calls())
      if (call.verb == ProviderVerb::create) machines = call.machines;
    return machines;
  }
};

// Else their nodes would count as LOST, and be replaced with all that runs there.
TEST_F(MovedLauncher, TellsContainersAtOnce) {
  EXPECT_THAT(told(NodeSource::docker), ElementsAre("lab-1"));
}

TEST_F(MovedLauncher, TellsJobsOfSlurmAtOnce) {
  EXPECT_THAT(told(NodeSource::slurm), ElementsAre("lab-1"));
}

TEST_F(MovedLauncher, CannotTellPods) { EXPECT_THAT(told(NodeSource::kubernetes), IsEmpty()); }

TEST(MachineSamplesTest, ALackingAccountIsAskedForAgainLater) {
  MachineSamples samples;
  const Instant now{1'000'000'000'000};
  samples.lacks("lab", "lab-1", "ada", told("no user"), now);
  samples.lacks("lab", "lab-1", "ada", told("no user"), now);
  EXPECT_EQ(samples.why_lacking("lab", "ada", now), nullptr) << "one machine";
  samples.lacks("lab", "lab-2", "ada", told("no user"), now);
  ASSERT_NE(samples.why_lacking("lab", "ada", now), nullptr);
  EXPECT_EQ(samples.why_lacking("lab", "bob", now), nullptr);
  EXPECT_EQ(samples.lacking("lab", now)->first, "ada");
  const Instant later = now + kLackingAccountFor + seconds(1);
  EXPECT_EQ(samples.why_lacking("lab", "ada", later), nullptr) << "it may be there by now";
  samples.lacks("lab", "lab-3", "ada", told("no user"), later);
  EXPECT_EQ(samples.why_lacking("lab", "ada", later), nullptr) << "the old words do not count";
}

TEST(MachineSamplesTest, OneMachineDoesNotSayHowLargeTheOthersAre) {
  MachineSamples samples;
  Inventory honest = inventory(4), huge = inventory(10'000);
  EXPECT_EQ(samples.of("lab"), nullptr);
  samples.learn("lab", "lab-1", honest);
  samples.learn("lab", "lab-2", huge);
  samples.learn("lab", "lab-2", huge);
  samples.learn("lab", "lab-3", honest);
  EXPECT_EQ(*samples.of("lab"), honest);
  samples.forget("lab", "lab-1");
  samples.forget("lab", "lab-2");
  EXPECT_EQ(*samples.of("lab"), honest);
  samples.forget("lab", "lab-3");
  EXPECT_EQ(samples.of("lab"), nullptr);
}

TEST_F(Elastic, NoMachineIsMadeForAJobThatItsUsersQuotaHoldsBack) {
  launcher.send(PrincipalInput{
      launcher.next_reply(),
      SetQuota{{QuotaHolder::Kind::project, "default"}, {{QuotaLimit::nodes, 1}}, {}},
      LauncherItself{}});
  drop_notices();
  launcher.take<ReplyDone>();
  make(cluster(0, 3));
  for (const char* name : {"a", "b", "c"}) submit_gang(name, 1);
  EXPECT_THAT(view().machines, testing::SizeIs(1));
}

TEST_F(Elastic, AListThatNamesThousandsIsBelievedForAFewAndTheyAreRemovedAtOnce) {
  create_target(cluster(0, 2));
  const auto listing = launcher.expect_one<CallProvider>();
  for (int i = 0; i < 9'000; ++i) running(listing, fmt::format("m{}", i));
  EXPECT_THAT(view().machines, IsEmpty());
  ends(listing);
  const CallProvider removal = only_call();
  EXPECT_EQ(removal.verb, ProviderVerb::remove);
  EXPECT_THAT(removal.machines, testing::SizeIs(22));
}

TEST_F(Elastic, WhatTheProviderHasAndNobodyKnowsIsRemoved) {
  create_target(cluster(0, 2));
  const auto listing = launcher.expect_one<CallProvider>();
  EXPECT_EQ(listing.verb, ProviderVerb::list);
  running(listing, "lab-7");
  running(listing, "../etc");
  ends(listing);
  const CallProvider removal = only_call();
  EXPECT_EQ(removal.verb, ProviderVerb::remove);
  EXPECT_THAT(removal.machines, ElementsAre("lab-7")) << "the other one is no name of a machine";
  absent(removal, "lab-7");
  ends(removal);
  EXPECT_THAT(view().machines, IsEmpty());
}

TEST_F(Elastic, AnIdleMachineOfOlderSettingsHoldsNobodyUp) {
  make(cluster(0, 2));
  const JobId first = submit_gang("first", 1);
  std::vector<FakeNode> nodes = all_join(only_call());
  drop_notices();
  const AttemptId attempt = launcher.core->state().job(first)->last_attempt()->id;
  launcher.cancel(first);
  drop_notices();
  launcher.finished(nodes[0], attempt, node_exit({terminated(0)}));
  drop_notices();
  launcher.send(LogsDurableInput{attempt, nodes[0].id});
  drop_notices();
  ComputeSpec larger = cluster(0, 2);
  larger.settings["cpus"] = {"64"};
  Machines::ask(UpdateCompute{larger});
  launcher.expect_one<ReplyCompute>();
  drop_notices();
  JobSpec wide = job_spec("wide", 1);
  wide.compute = "lab";
  wide.resources.cpus = 64;
  launcher.submit(wide);
  drop_notices();
  EXPECT_THAT(only_call().machines, ElementsAre("lab-2"));
}

TEST_F(Elastic, AListThatFailsAsAWholeIsNoMachine) {
  create_target(cluster(0, 2));
  const auto listing = launcher.expect_one<CallProvider>();
  say(listing, ProviderEvent{ProviderEvent::Kind::error, "lab", "connect",
                             MachineFault::unreachable, ProviderSaid{"no slurmctld"}});
  ends(listing);
  EXPECT_THAT(view().machines, IsEmpty());
}

TEST_F(Elastic, AJobThatNoMachineCanRunMakesNone) {
  make(cluster(0, 2));
  submit_gang("small", 1);
  std::vector<FakeNode> nodes = all_join(only_call());
  drop_notices();
  JobSpec big = job_spec("big");
  big.compute = "lab";
  big.resources.cpus = 1'000;
  const JobId job = launcher.submit(big);
  drop_notices();
  EXPECT_THAT(calls(), IsEmpty());
  EXPECT_THAT(why_it_waits(job), HasSubstr("1000 cpus"));
}

TEST_F(Elastic, JobsThatShareMachinesGetAsManyAsTheyFill) {
  make(cluster(0, 4));
  submit_gang("first", 1);  // it takes a whole machine, and shows how big one is
  std::vector<FakeNode> nodes = all_join(only_call());
  drop_notices();
  for (int i = 0; i < 5; ++i) {
    JobSpec small = job_spec("small" + std::to_string(i));
    small.compute = "lab";
    small.resources.cpus = 2;  // of 4
    small.resources.memory = gibibytes(1);
    small.resources.gpus = 0;
    launcher.submit(small);
    drop_notices();
  }
  std::size_t wanted = 0;
  for (const CallProvider& call : calls()) wanted += call.machines.size();
  EXPECT_EQ(wanted, 3U);
}

TEST_F(Elastic, HostsAreTakenAndGivenBackAndAFailedOneIsTriedLast) {
  ComputeSpec spec = cluster(0, 2);
  spec.source = NodeSource::ssh;
  spec.settings.clear();
  for (const char* name : {"vm1", "vm2", "vm3"}) spec.hosts.push_back(host(name));
  create_target(spec);
  submit_gang("train", 1);
  const CallProvider first = only_call();
  EXPECT_THAT(first.machines, ElementsAre("vm1"));
  fails(first, "vm1", MachineFault::unreachable);
  ends(first);
  launcher.tick(kFirstMachineBackoff);
  drop_notices();
  EXPECT_THAT(only_call().machines, ElementsAre("vm2"));
}

TEST_F(Elastic, ARestartForgetsNoMachineAndMakesNoneTwice) {
  make(cluster(0, 3));
  submit_gang("train", 3);
  const CallProvider first = only_call();
  joined(first, "lab-1");
  drop_notices();
  launcher.restart();
  launcher.take<AllowNode>();
  launcher.tick();
  drop_notices();
  std::vector<std::string> names;
  for (const CallProvider& call : calls())
    for (const std::string& name : call.machines) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("lab-2", "lab-3"));
  launcher.take<AllowUser>();
}

TEST_F(Elastic, ADeletedClusterGivesAllItsMachinesBack) {
  make(cluster(2, 3));
  std::vector<FakeNode> nodes = all_join(only_call());
  drop_notices();
  ask(DeleteCompute{"lab"});
  launcher.expect_one<ReplyDone>();
  const CallProvider removal = only_call();
  EXPECT_EQ(removal.machines.size(), 2U);
  for (const std::string& name : removal.machines) absent(removal, name);
  ends(removal);
  drop_notices();
  EXPECT_THAT(launcher.core->compute_views("lab"), IsEmpty());
}

}  // namespace
}  // namespace lockstep::launcher
