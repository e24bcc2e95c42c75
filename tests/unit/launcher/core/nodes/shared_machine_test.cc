// Two agents of one machine: it is not sold twice.

#include "common/domain/why/nodes/nodes.h"
#include "tests/unit/launcher/core/launcher_fixture.h"
#include "tests/unit/support/print_why.h"

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
  Why why(const std::string& node) { return launcher.core->node_view(node)->why; }
  std::string claimed_by(const std::string& node) {  // of another node, whose name it returns
    const auto reason = why(node);
    const auto* claims = reason.as<NodeClaimsAnothersMachine>();
    return claims == nullptr ? "" : claims->other;
  }
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
  EXPECT_EQ(why("n1"), Why());
  EXPECT_EQ(why("n2"), Why());
}

TEST_F(SharedMachines, WhatIsOfferedTwiceIsUsedOnce) {
  join("n1", kMachine, whole());
  join("n2", part(), offer({2, 3}, gibibytes(4)));
  EXPECT_EQ(why("n1"), Why()) << "it came first";
  const MachineRef machine{"0f3b-boot", "8d1c-machine"};
  EXPECT_EQ(why("n2"), Why(NodeOffersAnothersDevice{NodeAmount::cpus, 2, "n1", machine}));
  join("n3", part(), offer({4, 5}, gibibytes(4)));
  const Why too_much = why("n3");
  ASSERT_TRUE(too_much.is<NodeOffersTooMuchMemory>());
  EXPECT_EQ(too_much.as<NodeOffersTooMuchMemory>()->offers, gibibytes(4));
  EXPECT_EQ(too_much.as<NodeOffersTooMuchMemory>()->first, "n1");
  JobSpec spec = job_spec("two", 2);
  const JobId job = launcher.submit(spec);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::queued) << "one machine is not two";
}

TEST_F(SharedMachines, WhatTheFirstGivesUpTheSecondMayOffer) {
  FakeNode first = join("n1", kMachine, whole());
  join("n2", part(), offer({2, 3}, gibibytes(4)));
  EXPECT_NE(why("n2"), Why());
  first.inventory = offer({0, 1}, gibibytes(4));
  note(launcher, first, part());
  EXPECT_EQ(why("n2"), Why());
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

// Every account of a machine can read its ids. n1 joined first, and its root is hostile.
struct Claims : SharedMachines {
  static Inventory on(const std::string& boot, Inventory offered = whole()) {
    offered.host_id = boot + ":1";
    return offered;
  }
  static MachinePart machine_of(const std::string& boot, bool is_part = false) {
    return {boot + ":1:2", "", gibibytes(8), is_part};
  }
  void claims(FakeNode& node, const std::string& boot) {
    launcher.tick(milliseconds(1));
    launcher.drop_notices();
    node.inventory.host_id = boot + ":1";
    note(launcher, node, machine_of(boot, true));
    for (const auto& refused : launcher.take<ReportRefused>()) audited.push_back(refused.node);
  }
  FakeNode n1 = join("n1", machine_of("hers"), on("hers"));
  FakeNode n2 = join("n2", machine_of("his"), on("his"));
  std::vector<NodeId> audited;
};

TEST_F(Claims, WhoClaimsTheMachineOfAnotherNodeLosesAndIsNamed) {
  claims(n1, "his");
  EXPECT_EQ(why("n2"), Why());
  EXPECT_EQ(claimed_by("n1"), "n2");
  EXPECT_EQ(audited, std::vector<NodeId>{n1.id});
  launcher.restart();
  launcher.drop_notices();
  claims(n1, "his");
  note(launcher, n2, machine_of("his"));
  EXPECT_EQ(why("n2"), Why()) << "the order outlives the launcher";
  EXPECT_NE(why("n1"), Why());
  claims(n1, "hers");
  EXPECT_EQ(why("n1"), Why());
}

TEST_F(Claims, AnotherHostInBetweenHelpsNothing) {
  n1.inventory.host_id = "";
  note(launcher, n1, {});
  claims(n1, "his");
  EXPECT_EQ(why("n2"), Why());
  EXPECT_EQ(claimed_by("n1"), "n2");
}

TEST_F(Claims, AMachineThatDisagreesWithItsHostComesLast) {
  note(launcher, n1, machine_of("his"));
  EXPECT_EQ(why("n2"), Why());
  const Why twice = why("n1");
  ASSERT_TRUE(twice.is<NodeOffersAnothersDevice>());
  EXPECT_EQ(twice.as<NodeOffersAnothersDevice>()->other, "n2");
}

TEST_F(Claims, DoNotTakeIsolationAway) {
  claims(n1, "his");
  JobSpec spec = job_spec("alone");
  spec.resources.isolated = true;
  const JobId job = launcher.submit(spec);
  launcher.drop_notices();
  EXPECT_EQ(launcher.placed_on(attempt(job)), std::vector<NodeId>{n2.id});
}

TEST_F(Claims, OfTheNodesOfADividedMachineStayWithItThroughReboots) {
  const auto half = [](std::vector<int> cpus) { return offer(std::move(cpus), gibibytes(4)); };
  FakeNode a = join("a", machine_of("both", true), on("both", half({0, 1})));
  FakeNode b = join("b", machine_of("both", true), on("both", half({2, 3})));
  claims(a, "boot-2");  // b's agent was not started then
  for (FakeNode* node : {&b, &a}) claims(*node, "boot-3");
  EXPECT_EQ(why("a"), Why());
  EXPECT_EQ(why("b"), Why());
  EXPECT_TRUE(audited.empty());
}

TEST_F(SharedMachines, AnOperatorMayAllowThem) {
  CoreConfig config;
  config.shared_machines = true;
  TestLauncher lenient(config);
  join(lenient, "n1", kMachine, whole());
  join(lenient, "n2", kMachine, whole());
  EXPECT_EQ(lenient.core->node_view("n2")->why, Why());
}

}  // namespace
}  // namespace lockstep::launcher
