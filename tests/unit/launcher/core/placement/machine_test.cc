// Machines of a target with the node source ssh: which calls of the provider are due, and what
// follows from what it says.

#include "common/domain/why/nodes/machines.h"
#include "common/domain/why/nodes/targets.h"
#include "launcher/core/attempts/desired.h"
#include "tests/unit/launcher/core/machines/machine_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(Machines, HostsAreMadeInOneCallAndJoinWithTokensOfTheirOwn) {
  create({"vm1", "vm2"});
  const CallProvider first = call();
  EXPECT_THAT(first.machines, ElementsAre("vm1", "vm2"));
  EXPECT_EQ(machine("vm1").state, "creating");
  const FakeNode node = joined(first, "vm1");
  EXPECT_EQ(machine("vm1").state, "joined");
  EXPECT_EQ(machine("vm1").node, "vm1");
  EXPECT_EQ(machine("vm1").step, "") << "it has its result, though the call goes on";
  EXPECT_EQ(machine("vm2").step, kFirstMachineStep);
  EXPECT_EQ(launcher.core->node_view("vm1")->compute, "lab");
  joined(first, "vm2");
  ends(first);
  EXPECT_FALSE(is_called());
  for (const auto& [hash, token] : launcher.core->state().tokens())
    EXPECT_EQ(token.machine, "") << "tokens of machines end with their call";
}

TEST_F(Machines, OneIsJoinedOnlyWhileItsNodeIsAlive) {
  FakeNode node = attached("vm1");
  EXPECT_EQ(machine("vm1").state, "joined");
  launcher.pass(seconds(5));
  launcher.drop_notices();
  EXPECT_EQ(machine("vm1").state, "unknown");
  launcher.beat(node);
  launcher.drop_notices();
  EXPECT_EQ(machine("vm1").state, "joined");
}

TEST_F(Machines, AFailureIsShownAndTriedAgainLater) {
  create({"vm1"});
  const CallProvider first = call();
  say(first, {ProviderEvent::Kind::step, "vm1", "connect"});
  EXPECT_EQ(machine("vm1").step, "connect");
  fails(first, "vm1", MachineFault::unreachable);
  ends(first);
  EXPECT_EQ(machine("vm1").state, "failed");
  EXPECT_EQ(machine("vm1").failure_data, Why(ProviderSaid{"no answer"}));
  EXPECT_EQ(machine("vm1").retry_at, launcher.now + kFirstMachineBackoff);
  EXPECT_FALSE(is_called());
  launcher.tick(kFirstMachineBackoff);
  fails(call(), "vm1", MachineFault::unreachable);
  EXPECT_EQ(machine("vm1").failures, 2);
}

TEST_F(Machines, WhatAPersonMustMendIsTriedRarelyButAtOnceWhenAsked) {
  create({"vm1"});
  const CallProvider first = call();
  fails(first, "vm1", MachineFault::host_key);
  ends(first);
  EXPECT_EQ(machine("vm1").retry_at, launcher.now + kLongestMachineBackoff);
  attach("vm1");
  joined(call(), "vm1");
  EXPECT_EQ(machine("vm1").state, "joined");
  EXPECT_EQ(machine("vm1").failure_data, Why());
}

TEST_F(Machines, ACallThatEndsWithoutAResultFailsItsMachines) {
  create({"vm1"});
  const CallProvider first = call();
  ends(first);
  EXPECT_EQ(machine("vm1").failed_code, "failed");
  EXPECT_TRUE(machine("vm1").failure_data.is<ProviderSaidNothing>());
}

TEST_F(Machines, ANewHostDoesNotWaitForASlowOne) {
  create({"slow"});
  const CallProvider slow = call();
  attach("vm2");
  const CallProvider quick = call();
  EXPECT_THAT(quick.machines, ElementsAre("vm2"));
  joined(quick, "vm2");
  EXPECT_EQ(machine("slow").state, "creating");
  EXPECT_EQ(machine("vm2").state, "joined");
}

TEST_F(Machines, AProviderIsBelievedOnlyAboutTheMachinesOfItsCall) {
  FakeNode node = attached("vm1");
  attach("vm2");
  const CallProvider second = call();
  fails(second, "vm1", MachineFault::unreachable);
  EXPECT_EQ(machine("vm1").failure_data, Why());
  absent(second, "vm2");
  EXPECT_EQ(machine("vm2").state, "creating") << "`absent` is no result of `create`";
}

TEST_F(Machines, ADetachedHostIsDrainedAndRemovedWhenItsJobHasEnded) {
  FakeNode node = attached("vm1");
  const JobId job = submit("train");
  detach("vm1");
  EXPECT_EQ(machine("vm1").state, "leaving");
  EXPECT_FALSE(is_called()) << "its node is busy";
  EXPECT_EQ(launcher.status(submit("later")), JobStatus::queued);
  launcher.run_solo(node, attempt(job), node_exit({rank_exit(0)}));
  const CallProvider removal = call();
  EXPECT_EQ(removal.verb, ProviderVerb::remove);
  absent(removal, "vm1");
  launcher.expect_one<RevokeNode>();
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
  EXPECT_THAT(view().machines, IsEmpty());
  EXPECT_EQ(view().nodes.total, 0);
}

TEST_F(Machines, ByForceItsJobGoesBackToTheQueueUncharged) {
  FakeNode node = attached("vm1");
  const JobId job = submit("train");
  detach("vm1", true);
  const CallProvider removal = call();
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_EQ(launcher.core->state().job(job)->charged_retries, 0);
  fails(removal, "vm1", MachineFault::unreachable);
  launcher.expect_one<RevokeNode>();
  launcher.drop_notices();
  ends(removal);
  EXPECT_THAT(view().machines, IsEmpty()) << "forgotten by force";
  launcher.drop_notices();
  const Why why =
      MachineStepFailed{"connect", MachineFault::unreachable, ProviderSaid{"no answer"}};
  EXPECT_EQ(view().history.back().why_data, Why(MachineWentAway{MachineForgotten{why}}));
}

TEST_F(Machines, AForcedDetachEndsACreationThatNobodyWaitsFor) {
  create({"vm1", "vm2"});
  const CallProvider both = call();
  ask(DetachHosts{"lab", {"vm1"}, true});
  launcher.expect_one<ReplyCompute>();
  EXPECT_TRUE(launcher.take<StopProvider>().empty()) << "vm2 is wanted";
  EXPECT_EQ(machine("vm1").state, "leaving");
  ask(DetachHosts{"lab", {"vm2"}, true});
  launcher.expect_one<ReplyCompute>();
  EXPECT_EQ(launcher.expect_one<StopProvider>().call, both.call);
  ends(both);
  EXPECT_EQ(launcher.expect_one<CallProvider>().verb, ProviderVerb::remove);
}

// Another admin must not get it by naming a machine of their own.
TEST_F(Machines, APasswordStaysItsOwnersForOneMachineAlone) {
  create({"vm1"});
  call();
  SshHost with_password = host("vm2");
  with_password.password_secret = "pw";
  ask(AttachHosts{"lab", {with_password}});
  launcher.expect_one<ReplyCompute>();
  launcher.take<CallProvider>();
  const auto owner = [this] { return view().spec.hosts.at(1).secret_owner; };
  EXPECT_EQ(owner(), "root");
  const auto attach_as = [&](const std::string& user, const SshHost& wanted) {
    launcher.send(
        ComputeInput{launcher.next_reply(), AttachHosts{"lab", {wanted}}, UserCaller{user}});
    launcher.take<ReplyCompute>();
    launcher.take<CallProvider>();
    launcher.drop_notices();
  };
  launcher.send(PrincipalInput{launcher.next_reply(), AddUser{"bob", "bob", {}, {Role::admin, ""}},
                               UserCaller{"root"}});
  launcher.take<ReplyDone>();
  launcher.take<AllowUser>();
  attach_as("bob", with_password);
  EXPECT_EQ(owner(), "root") << "nothing changed";
  for (const auto change :
       {+[](SshHost& one) { one.address = "evil"; }, +[](SshHost& one) { one.port = 2222; },
        +[](SshHost& one) { one.user = "eve"; }, +[](SshHost& one) { one.jump = "eve@evil"; }}) {
    SshHost elsewhere = with_password;
    change(elsewhere);
    attach_as("bob", elsewhere);
    EXPECT_EQ(owner(), "bob");
    ask(AttachHosts{"lab", {with_password}});
    launcher.take<ReplyCompute>();
    launcher.take<CallProvider>();
    EXPECT_EQ(owner(), "root");
  }
}

TEST_F(Machines, AForcedDetachDuringAnAttachStillRemoves) {
  create({"vm1"});
  const CallProvider first = call();
  say(first, {ProviderEvent::Kind::step, "vm1", "start"});
  detach("vm1", true);
  EXPECT_EQ(launcher.expect_one<StopProvider>().call, first.call);
  say(first, {ProviderEvent::Kind::error, "vm1", "start", MachineFault::launcher_unreachable,
              ProviderSaid{"no"}});
  const CallProvider removal = call();
  EXPECT_EQ(removal.verb, ProviderVerb::remove) << "what was installed must go";
  EXPECT_FALSE(machine("vm1").failure_data) << "that the attach failed is no failure of the detach";
  ends(first);
  absent(removal, "vm1");
  EXPECT_THAT(view().machines, IsEmpty());
}

TEST_F(Machines, AMachineWithItsResultIsFreeWhileItsCallGoesOnWithOthers) {
  create({"vm1", "slow"});
  const CallProvider first = call();
  joined(first, "vm1");
  launcher.drop_notices();
  EXPECT_EQ(machine("vm1").step, "");
  detach("vm1");
  const CallProvider removal = call();
  EXPECT_THAT(removal.machines, ElementsAre("vm1"));
  absent(removal, "vm1");
  launcher.expect_one<RevokeNode>();
  launcher.drop_notices();
  EXPECT_EQ(machine("slow").state, "creating");
}

TEST_F(Machines, AMachineThatFailedIsCalledAlone) {
  create({"bad", "good"});
  const CallProvider first = call();
  ends(first);
  launcher.tick(kFirstMachineBackoff);
  const auto calls = launcher.take<CallProvider>();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_THAT(calls[0].machines, ElementsAre("bad"));
  EXPECT_THAT(calls[1].machines, ElementsAre("good"));
}

TEST_F(Machines, ARemovalThatFailsIsTriedAgain) {
  attached("vm1");
  detach("vm1");
  const CallProvider removal = call();
  fails(removal, "vm1", MachineFault::unreachable);
  ends(removal);
  EXPECT_EQ(machine("vm1").state, "leaving");
  EXPECT_EQ(view().nodes.total, 1) << "nobody has removed its agent";
  launcher.tick(kFirstMachineBackoff);
  absent(call(), "vm1");
  launcher.expect_one<RevokeNode>();
  EXPECT_THAT(view().machines, IsEmpty());
}

TEST_F(Machines, AHostThatWasNeverReachedIsDetachedAtOnce) {
  create({"typo"});
  const CallProvider first = call();
  fails(first, "typo", MachineFault::unreachable);
  ends(first);
  detach("typo");
  EXPECT_THAT(view().machines, IsEmpty());
  EXPECT_FALSE(is_called());
}

TEST_F(Machines, ADeletedTargetDetachesItsMachinesFirst) {
  attached("vm1");
  ask(DeleteCompute{"lab"});
  launcher.expect_one<ReplyDone>();
  const CallProvider removal = call();
  EXPECT_THAT(refused(AttachHosts{"lab", {host("vm2")}}), HasSubstr("is being deleted"));
  JobSpec spec = job_spec("train");
  spec.compute = "lab";
  EXPECT_THAT(launcher.submit_refused(spec).message, HasSubstr("is being deleted"));
  absent(removal, "vm1");
  launcher.expect_one<RevokeNode>();
  EXPECT_EQ(launcher.expect_one<ForgetCompute>().target, "lab");
  EXPECT_THAT(launcher.core->compute_views("lab"), IsEmpty());
}

TEST_F(Machines, ALostNodesAgentIsStartedAgain) {
  FakeNode node = attached("vm1");
  for (int i = 0; i < 20 && machine("vm1").state != "lost"; ++i) {
    launcher.tick(seconds(1));
    launcher.drop_notices();
  }
  EXPECT_EQ(machine("vm1").state, "lost");
  const CallProvider again = call();
  EXPECT_EQ(again.verb, ProviderVerb::create);
  running(again, "vm1");
  ends(again);
  EXPECT_FALSE(is_called()) << "it gets a minute to be heard";
  launcher.open(node);
  launcher.take<AskForSession>();
  launcher.drop_notices();
  EXPECT_EQ(machine("vm1").state, "joined");
}

TEST_F(Machines, AnAgentThatLostItsHomeReplacesItsNode) {
  attached("vm1");
  ComputeSpec spec = launcher.core->state().computes().find("lab")->spec;
  ask(UpdateCompute{spec, true});
  launcher.expect_one<ReplyCompute>();
  const CallProvider upgrade = call();
  launcher.send(JoinInput{launcher.next_reply(), secret("vm1"), PublicKey("key-of-anew"), "anew"});
  launcher.expect_one<RevokeNode>();
  launcher.expect_one<ReplyJoined>();
  launcher.expect_one<AllowNode>();
  launcher.drop_notices();
  running(upgrade, "vm1");
  ends(upgrade);
  EXPECT_EQ(view().nodes.total, 1);
  EXPECT_EQ(machine("vm1").node, "anew");
  EXPECT_EQ(launcher.core->state().removed_nodes().size(), 1U);
}

TEST_F(Machines, ARestartCallsAgain) {
  create({"vm1", "vm2"});
  const CallProvider first = call();
  joined(first, "vm1");
  launcher.drop_notices();
  launcher.restart();
  launcher.take<AllowNode>();
  launcher.tick();
  const CallProvider again = call();
  EXPECT_THAT(again.machines, ElementsAre("vm2"));
  launcher.take<AllowUser>();
}

TEST_F(Machines, AHostIsToldAtOnceWhereALauncherThatMovedIs) {
  attached("vm1");
  launcher.restart();
  launcher.tick();
  launcher.drop_notices();
  EXPECT_FALSE(is_called()) << "it may be where it was";
  launcher.send(LauncherMovedInput{});
  const CallProvider again = call();
  EXPECT_EQ(again.verb, ProviderVerb::create);
  EXPECT_THAT(again.machines, ElementsAre("vm1"));
}

TEST_F(Machines, ANodeOfAMachineIsDetachedAndNotRemoved) {
  FakeNode node = attached("vm1");
  launcher.send(RemoveNodeInput{launcher.next_reply(), "vm1", UserCaller{"root"}, false});
  EXPECT_THAT(launcher.expect_one<ReplyRefused>().message,
              HasSubstr("lockstep compute detach lab --host vm1"));
  launcher.send(RemoveNodeInput{launcher.next_reply(), "vm1", UserCaller{"root"}, true});
  launcher.expect_one<RevokeNode>();
  launcher.expect_one<ReplyDone>();
  EXPECT_EQ(call().verb, ProviderVerb::remove);
  EXPECT_EQ(machine("vm1").state, "removing");
}

TEST_F(Machines, TunnelsAreHeldAsLongAsTheirMachine) {
  create({"vm1"});
  const CallProvider first = call();
  launcher.join_with(secret("vm1"), "vm1", inventory());
  running(first, "vm1", true);
  EXPECT_THAT(launcher.expect_one<HoldMachines>().machines, ElementsAre("vm1"));
  ends(first);
  detach("vm1");
  absent(call(), "vm1");
  EXPECT_THAT(launcher.expect_one<HoldMachines>().machines, IsEmpty());
  launcher.expect_one<RevokeNode>();
}

TEST_F(Machines, ATunnelThatThisVersionDoesNotKnowIsRefused) {
  ComputeSpec spec{"lab", ComputeType::virtualmachine, "", "", {}, NodeSource::ssh, {}};
  spec.tunnel = TunnelUse::unknown;
  EXPECT_THAT(refused(CreateCompute{spec}), HasSubstr("is not auto, always or never"));
}

TEST_F(Machines, ANoticeOfItsProviderStopsWhatRunsOnTheNode) {
  attached("vm1");
  const JobId job = submit("train");
  const auto notice = [this](const std::string& target, const std::string& name,
                             const std::string& why) {
    launcher.send(ProviderNoticeInput{
        target, {ProviderEvent::Kind::notice, name, "", {}, ProviderSaid{why}, {}, minutes(2)}});
    launcher.drop_notices();
  };
  notice("lab", "vm2", "no machine of it");
  notice("other", "vm1", "no such target");
  EXPECT_THAT(launcher.facts<NodeNoticed>(), IsEmpty());
  notice("lab", "vm1", "spot");
  const auto told = launcher.facts<NodeNoticed>();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].why, ProviderSaid{"spot"});
  EXPECT_EQ(told[0].until, launcher.now + minutes(2));
  const auto doomed = launcher.facts<AttemptDoomed>();
  ASSERT_EQ(doomed.size(), 1U);
  EXPECT_EQ(doomed[0].attempt, attempt(job));
  notice("lab", "vm1", "spot");
  EXPECT_EQ(launcher.facts<NodeNoticed>().size(), 1U) << "it is repeated, and is no news";
}

TEST_F(Machines, AHostThatIsAttachedKeepsItsAddress) {
  attached("vm1");
  SshHost moved = host("vm1");
  moved.address = "elsewhere";
  EXPECT_THAT(refused(AttachHosts{"lab", {moved}}), HasSubstr("detach it first"));
  EXPECT_THAT(refused(DetachHosts{"lab", {"vm9"}, false}), HasSubstr("Its hosts: vm1"));
}

TEST_F(Machines, AJobThatWaitsSaysHowFarTheMachinesAre) {
  create({"vm1"});
  const CallProvider first = call();
  const JobId job = submit("train");
  EXPECT_THAT(launcher.view(job).reason, HasSubstr("target 'lab' has no nodes yet: vm1 is being"));
  fails(first, "vm1", MachineFault::unreachable);
  launcher.drop_notices();
  ends(first);
  launcher.drop_notices();
  EXPECT_THAT(launcher.view(job).reason, HasSubstr("vm1 failed (connect: no answer)"));
}

TEST_F(Machines, AnotherAccountThanRootRunsTheJobsOfTheOneWhoAttachedIt) {
  create({"vm1"});
  const CallProvider first = call();
  Inventory of_ann = inventory();
  of_ann.user = "ann";
  FakeNode node = launcher.join_with(secret("vm1"), "vm1", of_ann);
  running(first, "vm1");
  ends(first);
  launcher.drop_notices();
  const auto account_of = [&](const std::string& submitter) {
    JobSpec spec = job_spec("job-of-" + submitter);
    spec.compute = "lab";
    spec.submitter = submitter;
    spec.run_as = "joe";
    spec.resources.cpus = 1;
    spec.resources.memory = gibibytes(1);
    spec.resources.gpus = 0;
    const JobId job = launcher.submit(spec);
    launcher.drop_notices();
    const DesiredState desired = desired_for(launcher.core->state(), launcher.config, node.id);
    for (const Assignment& assignment : desired.assignments)
      if (assignment.attempt.job == job) return assignment.spec.run_as;
    return std::string("none");
  };
  EXPECT_EQ(account_of("root"), "") << "as the agent's own account";
  EXPECT_EQ(account_of("alice"), "joe") << "who did not attach it";
}

}  // namespace
}  // namespace lockstep::launcher
