// Two agents of one machine: it is not sold twice.

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

const MachinePart kMachine{"0f3b-boot:4026531840:4026531836", "8d1c-machine", gibibytes(8), false};

Inventory offer(std::vector<int> cpus, Bytes memory) {
  Inventory offered = inventory();
  offered.cpus = std::move(cpus);
  offered.memory = memory;
  return offered;
}
Inventory whole() { return offer({0, 1, 2, 3}, gibibytes(8)); }
MachinePart part() {
  MachinePart machine = kMachine;
  machine.is_part = true;
  return machine;
}

struct SharedMachines : ::testing::Test {
  TestLauncher launcher;
  const Digest secret = sha256("a token");

  FakeNode join(TestLauncher& at, const std::string& name, const MachinePart& machine,
                Inventory offered) {
    FakeNode node = at.join(name, std::move(offered));
    note(at, node, machine);
    return node;
  }
  FakeNode join(const std::string& name, const MachinePart& machine, Inventory offered) {
    return join(launcher, name, machine, std::move(offered));
  }
  // The agent starts again, and says on which machine it is.
  void note(TestLauncher& at, FakeNode& node, const MachinePart& machine) {
    node.session = SessionId(node.session.value + 1'000);
    SessionOpen open = at.opening(node);
    open.machine = machine;
    at.send(SessionInput{node.key, open});
    (void)at.take<AcceptSession>();
    at.drop_notices();
  }
  // "": it may join.
  std::string refused(const MachinePart& machine) {
    launcher.send(TokenInput{launcher.next_reply(), secret, launcher.now + minutes(60), 9});
    (void)launcher.take<ReplyDone>();
    launcher.send(JoinInput{launcher.next_reply(), secret, PublicKey("another"), "twin", machine});
    (void)launcher.take<AllowNode>();
    (void)launcher.take<ReplyJoined>();
    const auto refusals = launcher.take<ReplyRefused>();
    return refusals.empty() ? "" : refusals.front().message;
  }
  std::string reason(const std::string& node) { return launcher.core->node_view(node)->reason; }
};

TEST_F(SharedMachines, ASecondAgentOfAMachineIsRefusedAndNamed) {
  join("n1", kMachine, whole());
  const std::string why = refused(kMachine);
  EXPECT_THAT(why, HasSubstr("boot id 0f3b-boot, machine id 8d1c-machine"));
  EXPECT_THAT(why, HasSubstr("is node n1"));
  EXPECT_THAT(why, HasSubstr("--share 1/2"));
}

TEST_F(SharedMachines, AnotherMachineAndAnAgentThatReportsNoneMayJoin) {
  join("n1", kMachine, whole());
  MachinePart other = kMachine;
  other.id = "77aa-boot:1:2";
  EXPECT_EQ(refused(other), "") << "a clone has the same machine id, and another boot";
  EXPECT_EQ(refused({}), "") << "of an earlier version";
}

TEST_F(SharedMachines, PartsThatFitAreUsed) {
  join("n1", part(), offer({0, 1}, gibibytes(4)));
  EXPECT_EQ(refused(part()), "");
  join("n2", part(), offer({2, 3}, gibibytes(4)));
  EXPECT_EQ(reason("n1"), "");
  EXPECT_EQ(reason("n2"), "");
}

TEST_F(SharedMachines, WhatIsOfferedTwiceIsUsedOnce) {
  join("n1", kMachine, whole());
  join("n2", part(), offer({2, 3}, gibibytes(4)));
  EXPECT_EQ(reason("n1"), "") << "it came first";
  EXPECT_THAT(reason("n2"), HasSubstr("offers cpu 2, which node n1 of the same machine"));
  join("n3", part(), offer({4, 5}, gibibytes(4)));
  EXPECT_THAT(reason("n3"), HasSubstr("offers 4.0 GiB memory, but earlier nodes"));
  JobSpec spec = job_spec("two", 2);
  const JobId job = launcher.submit(spec);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::queued) << "one machine is not two";
}

TEST_F(SharedMachines, WhatTheFirstGivesUpTheSecondMayOffer) {
  FakeNode first = join("n1", kMachine, whole());
  join("n2", part(), offer({2, 3}, gibibytes(4)));
  EXPECT_NE(reason("n2"), "");
  first.inventory = offer({0, 1}, gibibytes(4));
  note(launcher, first, part());
  EXPECT_EQ(reason("n2"), "");
}

TEST_F(SharedMachines, AMachineWhoseAgentIsLostMayJoinAnew) {
  join("n1", kMachine, whole());
  launcher.pass(seconds(30));
  EXPECT_EQ(refused(kMachine), "");
}

TEST_F(SharedMachines, ALauncherThatStartsAgainIsToldAnew) {
  FakeNode first = join("n1", kMachine, whole());
  launcher.restart();
  launcher.drop_notices();
  note(launcher, first, kMachine);
  EXPECT_THAT(refused(kMachine), HasSubstr("is node n1"));
}

TEST_F(SharedMachines, AnOperatorMayAllowThem) {
  CoreConfig config;
  config.shared_machines = true;
  TestLauncher lenient(config);
  join(lenient, "n1", kMachine, whole());
  join(lenient, "n2", kMachine, whole());
  EXPECT_EQ(lenient.core->node_view("n2")->reason, "");
}

}  // namespace
}  // namespace lockstep::launcher
