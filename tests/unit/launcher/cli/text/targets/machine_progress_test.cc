#include "launcher/cli/text/targets/machine_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

using Goal = MachineProgress::Goal;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A target with these machines, all of which are its hosts.
struct Target {
  ComputeView view;

  Target() { view.spec.name = "lab"; }
  MachineView& machine(const std::string& name) {
    for (MachineView& machine : view.machines)
      if (machine.name == name) return machine;
    SshHost host;
    host.name = host.address = name;
    view.spec.hosts.push_back(host);
    MachineView made;
    made.name = name;
    made.state = "wanted";
    view.machines.push_back(made);
    return view.machines.back();
  }
  void fail(const std::string& name, std::int64_t failures) {
    MachineView& known = machine(name);
    known.step.clear();
    known.state = known.state == "removing" ? "leaving" : "failed";
    known.failed_step = "connect";
    known.failed_code = "unreachable";
    known.failure = "nobody answers";
    known.failures = failures;
  }
  void succeed(const std::string& name) {
    MachineView joined;
    joined.name = name;
    joined.state = "joined";
    machine(name) = joined;
  }
  void drop(const std::string& name) {
    std::erase_if(view.machines, [&](const MachineView& one) { return one.name == name; });
  }
  void forget(const std::string& name) {
    std::erase_if(view.spec.hosts, [&](const SshHost& one) { return one.name == name; });
  }
};

TEST(MachineProgress, SaysEachStepOnceUntilAllHaveJoined) {
  Target target;
  target.machine("vm1");
  target.machine("vm2");
  MachineProgress progress(target.view, {{"vm1", Goal::joined}, {"vm2", Goal::joined}});
  target.machine("vm1").state = "creating";
  target.machine("vm1").step = "connect";
  EXPECT_THAT(progress.update(target.view),
              ElementsAre("vm1: connects", "vm2: waits for its turn"));
  EXPECT_THAT(progress.update(target.view), IsEmpty());
  EXPECT_THAT(progress.open_lines(), ElementsAre("vm1: connects", "vm2: waits for its turn"));
  target.machine("vm1").step = "copy";
  EXPECT_THAT(progress.update(target.view), ElementsAre("vm1: copies the bundle"));
  target.machine("vm1") = {};
  target.view.machines[0].name = "vm1";
  target.view.machines[0].state = "joined";
  target.view.machines[0].node = "vm1";
  EXPECT_THAT(progress.update(target.view), ElementsAre("vm1: joined as node vm1"));
  EXPECT_FALSE(progress.is_done());
  EXPECT_EQ(progress.summary(), "1 of 2 machines joined");
  target.machine("vm2").state = "joined";
  progress.update(target.view);
  EXPECT_TRUE(progress.is_done());
  EXPECT_THAT(progress.missing(), IsEmpty());
}

TEST(MachineProgress, AFailureEndsTheWaitForItsMachine) {
  Target target;
  target.machine("vm1");
  MachineProgress progress(target.view, {{"vm1", Goal::joined}});
  target.fail("vm1", 1);
  EXPECT_THAT(progress.update(target.view),
              ElementsAre(HasSubstr("vm1: connect failed: nobody answers")));
  EXPECT_TRUE(progress.is_done());
  EXPECT_THAT(progress.missing(), ElementsAre("vm1"));
  EXPECT_THAT(progress.open_lines(), IsEmpty());
}

// The launcher tries the host again at once, so the failure that it shows first is no answer yet.
TEST(MachineProgress, AnOldFailureIsNone) {
  Target target;
  target.fail("vm1", 3);
  MachineProgress progress(target.view, {{"vm1", Goal::joined}});
  progress.update(target.view);
  EXPECT_FALSE(progress.is_done());
  target.machine("vm1").state = "creating";  // it still has the old failure
  progress.update(target.view);
  target.machine("vm1").step = "connect";
  progress.update(target.view);
  EXPECT_FALSE(progress.is_done());
  target.fail("vm1", 4);
  progress.update(target.view);
  EXPECT_TRUE(progress.is_done());
}

// As after `compute update --upgrade`, or an attach of a host that has joined.
TEST(MachineProgress, AJoinedMachineIsThereWhenItsCallHasEnded) {
  Target target;
  target.machine("vm1").state = "joined";
  target.machine("vm1").step = kFirstMachineStep;
  MachineProgress good(target.view, {{"vm1", Goal::joined}}), bad = good;
  EXPECT_THAT(good.update(target.view), ElementsAre("vm1: waits for its turn"));
  EXPECT_FALSE(good.is_done());
  target.machine("vm1").step.clear();
  good.update(target.view);
  EXPECT_TRUE(good.is_done());
  EXPECT_THAT(good.missing(), IsEmpty());
  target.fail("vm1", 1);
  target.machine("vm1").state = "joined";
  target.machine("vm1").node = "vm1";
  EXPECT_THAT(bad.update(target.view), ElementsAre(HasSubstr("Its node vm1 stays as it is")));
  EXPECT_TRUE(bad.is_done());
  EXPECT_THAT(bad.missing(), ElementsAre("vm1"));
}

TEST(MachineProgress, AMachineThatJoinsAfterAllIsThere) {
  Target target;
  target.machine("vm1");
  target.machine("vm2");
  MachineProgress progress(target.view, {{"vm1", Goal::joined}, {"vm2", Goal::joined}});
  target.fail("vm1", 1);
  progress.update(target.view);
  target.succeed("vm1");
  target.succeed("vm2");
  progress.update(target.view);
  EXPECT_TRUE(progress.is_done());
  EXPECT_THAT(progress.missing(), IsEmpty());
}

// As when the host of a joined machine has another host key: its agent's own link is up.
TEST(MachineProgress, AFailedAttachOfAJoinedMachineIsAFailure) {
  Target target;
  target.succeed("vm1");
  MachineProgress progress(target.view, {{"vm1", Goal::joined}});
  target.fail("vm1", 1);
  target.machine("vm1").state = "joined";
  progress.update(target.view);
  EXPECT_TRUE(progress.is_done());
  EXPECT_THAT(progress.missing(), ElementsAre("vm1"));
}

TEST(MachineProgress, AHostThatIsStillLeavingIsAttachedAnew) {
  Target target;
  target.machine("vm1").state = "removing";
  MachineProgress progress(target.view, {{"vm1", Goal::joined}});
  EXPECT_THAT(progress.update(target.view), ElementsAre("vm1: waits until it is detached"));
  target.drop("vm1");
  progress.update(target.view);
  EXPECT_FALSE(progress.is_done());
  target.forget("vm1");
  EXPECT_THAT(progress.update(target.view), ElementsAre("vm1: was detached by another command"));
  EXPECT_TRUE(progress.is_done());
  EXPECT_THAT(progress.missing(), ElementsAre("vm1"));
}

TEST(MachineProgress, ADeletedTargetHasNoMachines) {
  Target target;
  target.machine("vm1");
  MachineProgress progress(target.view, {{"vm1", Goal::joined}});
  progress.update(std::nullopt);
  EXPECT_TRUE(progress.is_done());
  EXPECT_THAT(progress.missing(), ElementsAre("vm1"));
}

TEST(MachineProgress, WaitsUntilAMachineIsGone) {
  Target target;
  target.machine("vm1").state = "leaving";
  target.machine("vm1").node = "vm1";
  MachineProgress progress(target.view, {{"vm1", Goal::gone}});
  EXPECT_THAT(
      progress.update(target.view),
      ElementsAre(
          "vm1: waits until nothing holds it: a job on its node, or a call of its provider"));
  EXPECT_THAT(progress.take_waiting(), ElementsAre(std::pair("vm1", "vm1")));
  EXPECT_THAT(progress.take_waiting(), IsEmpty());  // said once
  target.machine("vm1").state = "removing";
  EXPECT_THAT(progress.update(target.view), ElementsAre("vm1: removes the agent"));
  EXPECT_EQ(progress.summary(), "0 of 1 machine detached");
  target.drop("vm1");
  EXPECT_THAT(progress.update(target.view), ElementsAre("vm1: is detached"));
  EXPECT_TRUE(progress.is_done());
}

TEST(MachineProgress, AFailedRemovalEndsTheWaitUnlessItIsForced) {
  Target target;
  target.machine("vm1").state = "removing";
  MachineProgress plain(target.view, {{"vm1", Goal::gone}});
  MachineProgress forced(target.view, {{"vm1", Goal::gone}}, {true, false});
  target.fail("vm1", 1);
  plain.update(target.view);
  EXPECT_TRUE(plain.is_done());
  EXPECT_THAT(plain.missing(), ElementsAre("vm1"));
  forced.update(target.view);
  EXPECT_FALSE(forced.is_done());
  target.drop("vm1");
  EXPECT_THAT(forced.update(target.view),
              ElementsAre("vm1: is forgotten; an agent may still run there"));
  EXPECT_TRUE(forced.is_done());
}

TEST(MachineProgress, ATargetThatIsDeletedGoesAfterItsMachines) {
  Target target;
  target.machine("vm1").state = "removing";
  MachineProgress progress(target.view, {{"vm1", Goal::gone}}, {false, true});
  target.drop("vm1");
  progress.update(target.view);
  EXPECT_FALSE(progress.is_done());
  progress.update(std::nullopt);
  EXPECT_TRUE(progress.is_done());
}

TEST(MachineProgress, AnUpdateAttachesSomeAndDetachesOthers) {
  Target target;
  target.machine("vm1").state = "joined";
  target.machine("vm2").state = "removing";
  MachineProgress progress(target.view, {{"vm1", Goal::joined}, {"vm2", Goal::gone}});
  progress.update(target.view);
  EXPECT_EQ(progress.summary(), "1 of 1 machine joined, 0 of 1 machine detached");
}

}  // namespace
}  // namespace lockstep::cli
