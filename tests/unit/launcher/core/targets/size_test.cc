// Sizes: who defines them, how many machines of one are granted, and that a node has what its
// target's size promises.

#include "common/domain/why/nodes/fit.h"
#include "common/domain/why/nodes/nodes.h"
#include "common/domain/why/nodes/placement.h"
#include "tests/unit/launcher/core/launcher_fixture.h"
#include "tests/unit/support/print_why.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Size size(std::string name, int vcpus, int memory_gib, int gpus = 0) {
  Size made;
  made.name = std::move(name);
  made.vcpus = vcpus;
  made.memory = gibibytes(static_cast<std::uint64_t>(memory_gib));
  made.gpus = gpus;
  return made;
}

CoreConfig with_catalogue() {
  CoreConfig config;
  Size plain = size("Standard_D4_v3", 4, 8), rdma = size("Standard_NC24rs_v3", 24, 448, 4);
  plain.max_mpi_nodes = rdma.max_mpi_nodes = 100;
  rdma.needs_approval = rdma.rdma = rdma.isolated = true;
  for (const Size& one : {plain, rdma}) config.catalogue.sizes[size_key(one.name)] = one;
  return config;
}

class SizeTest : public testing::Test {
 protected:
  // Keeps the answers, and ends every call of a provider that became due.
  void send(Input input) {
    refused.clear();
    launcher.send(std::move(input));
    take_answers();
    while (!calls.empty()) {
      const CallProvider call = calls.back();
      calls.pop_back();
      launcher.send(ProviderEndedInput{call.call, MachineFault::failed, told("it is not there")});
      take_answers();
    }
  }
  void take_answers() {
    for (const ReplyRefused& reply : launcher.take<ReplyRefused>()) refused = reply.message;
    for (const ReplySizes& reply : launcher.take<ReplySizes>()) answer = reply.names.front();
    for (const ReplyDone& reply : launcher.take<ReplyDone>()) answer = reply.message;
    for (const ReplyCompute& reply : launcher.take<ReplyCompute>()) answer = reply.name;
    for (const ReplySubmitted& reply : launcher.take<ReplySubmitted>()) notes = reply.notes;
    for (const CallProvider& call : launcher.take<CallProvider>()) calls.push_back(call);
    launcher.drop_notices();
  }
  std::string ask(SizeInput::Ask what) {
    send(SizeInput{launcher.next_reply(), std::move(what), UserCaller{"root"}});
    return refused.empty() ? answer : refused;
  }
  void submit(const JobSpec& spec) {
    send(SubmitInput{launcher.next_reply(), "of " + spec.name, spec, "generated"});
  }
  std::string create(const std::string& name, const std::string& size, int most = 1,
                     bool update = false) {
    ComputeSpec spec;
    spec.name = name;
    spec.type = ComputeType::amlcompute;
    spec.source = NodeSource::docker;
    spec.settings["image"] = {"debian:12"};
    spec.size = size;
    spec.scale.max_instances = most;
    send(ComputeInput{launcher.next_reply(),
                      update ? ComputeInput::Ask(UpdateCompute{spec, false})
                             : ComputeInput::Ask(CreateCompute{spec}),
                      UserCaller{"root"}});
    return refused.empty() ? "done" : refused;
  }
  FakeNode join(const std::string& compute, const std::string& name, Inventory has) {
    const Digest secret = sha256("token of " + compute);
    send(TokenInput{launcher.next_reply(), secret, launcher.now + minutes(60), 100,
                    UserCaller{"root"}, Approval::waived, compute});
    return launcher.join_with(secret, name, std::move(has));
  }
  Why why(const std::string& node) const { return launcher.core->node_view(node)->why; }
  SizeView view(const std::string& name) const {
    const auto views = launcher.core->size_views({name});
    return views.empty() ? SizeView{} : views.front();
  }

  TestLauncher launcher{with_catalogue()};
  std::string refused, answer;
  std::vector<Why> notes;
  std::vector<CallProvider> calls;
};

TEST_F(SizeTest, AnOperatorsSizeTakesThePlaceOfTheCatalogues) {
  Size priced = size("standard_d4_V3", 4, 8);
  priced.price_per_hour = 0.2;
  EXPECT_EQ(ask(DefineSizes{{priced, size("lab", 2, 4)}}), "standard_d4_V3");
  EXPECT_EQ(view("STANDARD_D4_V3").size.price_per_hour, 0.2);
  EXPECT_TRUE(view("lab").is_own);
  EXPECT_EQ(launcher.core->size_views({}).size(), 3U);
  EXPECT_EQ(ask(RemoveSize{"Standard_D4_v3"}), "size standard_d4_V3 is as in the catalogue again");
  EXPECT_FALSE(view("Standard_D4_v3").size.price_per_hour);
  EXPECT_THAT(ask(RemoveSize{"Standard_D4_v3"}), HasSubstr("is one of the launcher's catalogue"));
  EXPECT_EQ(ask(RemoveSize{"LAB"}), "size lab is removed");
  EXPECT_THAT(ask(RemoveSize{"Standard_D4_v4"}),
              HasSubstr("there is no size 'Standard_D4_v4'; did you mean 'Standard_D4_v3'?"));
  launcher.restart();
  EXPECT_EQ(launcher.core->size_views({}).size(), 2U);
}

TEST_F(SizeTest, AFileIsTakenWholeOrNotAtAll) {
  EXPECT_THAT(ask(DefineSizes{{size("good", 2, 4), size("bad", 0, 4)}}),
              HasSubstr("size bad: vcpus: is 0; must be 1 to 65536"));
  EXPECT_EQ(launcher.core->size_views({"good"}).size(), 0U);
  EXPECT_THAT(launcher.facts<SizeDefined>(), IsEmpty());
  ask(DefineSizes{{size("good", 2, 4)}});
  ask(DefineSizes{{size("good", 2, 4)}});
  EXPECT_EQ(launcher.facts<SizeDefined>().size(), 1U) << "the second request changed nothing";
}

TEST_F(SizeTest, WhatNeedsApprovalHasNoMachinesBeforeItIsGranted) {
  EXPECT_EQ(create("gpu", "standard_nc24rs_v3", 2),
            "size Standard_NC24rs_v3 needs approval, and none is given: its quota is 0; an admin "
            "grants more with `lockstep size grant Standard_NC24rs_v3 --machines 2`");
  EXPECT_EQ(ask(GrantSize{"STANDARD_NC24RS_V3", 3}), "Standard_NC24rs_v3");
  EXPECT_EQ(create("gpu", "standard_nc24rs_v3", 2), "done");
  EXPECT_EQ(create("more", "Standard_NC24rs_v3", 2),
            "size Standard_NC24rs_v3 has a quota of 3 machines; other targets may have 2 of them, "
            "and this one asks for 2; an admin grants more with `lockstep size grant "
            "Standard_NC24rs_v3 --machines 4`");
  EXPECT_EQ(create("more", "Standard_NC24rs_v3", 1), "done");
  EXPECT_THAT(create("gpu", "Standard_NC24rs_v3", 3, true), HasSubstr("has a quota of 3 machines"));
  EXPECT_EQ(create("gpu", "Standard_NC24rs_v3", 1, true), "done");
  EXPECT_EQ(view("Standard_NC24rs_v3").used, 2);
  EXPECT_THAT(view("Standard_NC24rs_v3").targets, ElementsAre("gpu", "more"));
  EXPECT_EQ(
      ask(GrantSize{"Standard_NC24rs_v3", 1}),
      "the targets of size Standard_NC24rs_v3 may have 2 machines together (gpu, more); lower "
      "their max_instances or delete some first");
}

TEST_F(SizeTest, AGrantLimitsAnySize) {
  EXPECT_EQ(create("big", "Standard_D4_v3", 50), "done");
  ask(GrantSize{"Standard_D4_v3", 60});
  EXPECT_THAT(create("bigger", "Standard_D4_v3", 11), HasSubstr("has a quota of 60 machines"));
  EXPECT_THAT(create("odd", "Standard_D4_v9"), HasSubstr("there is no size 'Standard_D4_v9'"));
}

TEST_F(SizeTest, ASizeOfATargetStays) {
  ask(DefineSizes{{size("lab", 2, 4)}});
  create("cluster", "lab");
  EXPECT_EQ(ask(RemoveSize{"lab"}), "size lab is that of target 'cluster'; delete it first");
}

TEST_F(SizeTest, ANodeThatHasLessThanItsSizeIsUnusable) {
  create("cluster", "Standard_D4_v3", 3);
  FakeNode small = join("cluster", "n1", inventory(2, gibibytes(8)));
  EXPECT_EQ(why("n1"), Why(NodeHasFewerThanSize{NodeAmount::cpus, 2, "Standard_D4_v3", 4}));
  join("cluster", "n2", inventory(4, gibibytes(7)));
  EXPECT_EQ(why("n2"),
            Why(NodeHasLessMemoryThanSize{gibibytes(7), "Standard_D4_v3", gibibytes(8)}));
  join("cluster", "n3", inventory(4, mebibytes(7'500)));
  EXPECT_EQ(why("n3"), Why()) << "a machine's system keeps some memory";
  EXPECT_EQ(launcher.core->compute_views("cluster").front().nodes.unavailable, 2);
  launcher.restart();
  EXPECT_EQ(why("n1"), Why(NodeHasFewerThanSize{NodeAmount::cpus, 2, "Standard_D4_v3", 4}));
  send(TickInput{});
  small.inventory = inventory(4, gibibytes(8));
  small.inventory.host_id = "host-of-n1";
  launcher.restart_agent(small, {});
  EXPECT_EQ(why("n1"), Why());
}

TEST_F(SizeTest, ASizeThatChangesIsHeldAgainstTheNodesAgain) {
  create("cluster", "Standard_D4_v3");
  join("cluster", "n1", inventory(2, gibibytes(8)));
  ask(DefineSizes{{size("Standard_D4_v3", 2, 8)}});
  EXPECT_EQ(why("n1"), Why());
  ask(RemoveSize{"Standard_D4_v3"});
  EXPECT_EQ(why("n1"), Why(NodeHasFewerThanSize{NodeAmount::cpus, 2, "Standard_D4_v3", 4}));
}

TEST_F(SizeTest, ASizeWithRdmaNeedsAnActivePort) {
  ask(GrantSize{"Standard_NC24rs_v3", 1});
  create("cluster", "Standard_NC24rs_v3");
  Inventory has = inventory(24, gibibytes(448), 4);
  FakeNode node = join("cluster", "n1", has);
  EXPECT_EQ(why("n1"), Why(NodeLacksRdmaOfSize{NodeHasNoRdma{}, "Standard_NC24rs_v3"}));
  node.inventory.rdma_ports = {{"mlx5_0", 1, "ACTIVE", 56, "InfiniBand", "fe80", {0xffff}}};
  launcher.restart_agent(node, {});
  EXPECT_EQ(why("n1"), Why());
}

TEST_F(SizeTest, AnMpiJobHasAtMostAHundredNodesUnlessTheSizeSaysMore) {
  create("cluster", "Standard_D4_v3", 200);
  JobSpec spec = job_spec("wide", 101);
  spec.compute = "cluster";
  spec.distribution.kind = Distribution::Kind::mpi;
  EXPECT_EQ(launcher.submit_refused(spec).message,
            "resources.instance_count: an MPI job on target 'cluster' has at most 100 nodes, as on "
            "Azure (size Standard_D4_v3), and this one has 101; an admin raises it with "
            "`max_mpi_nodes` in a size of this name (`lockstep size add -f FILE`)");
  Size raised = size("Standard_D4_v3", 4, 8);
  raised.max_mpi_nodes = 150;
  ask(DefineSizes{{raised}});
  EXPECT_TRUE(launcher.core->refusals(spec, LauncherItself{}).empty());
}

TEST_F(SizeTest, AnIsolatedSizeServesIsolatedJobsAndAnotherDoesNot) {
  create("plain", "Standard_D4_v3");
  join("plain", "n1", inventory(4, gibibytes(8)));
  JobSpec spec = job_spec("secret");
  spec.compute = "plain";
  spec.resources.isolated = true;
  submit(spec);
  EXPECT_THAT(launcher.explain(JobId("secret")).lines,
              testing::Contains("  n1 is of size Standard_D4_v3, which is not isolated"));
}

TEST_F(SizeTest, TheInstanceTypeChoosesTheTarget) {
  create("plain", "Standard_D4_v3");
  join("plain", "n1", inventory(4, gibibytes(8)));
  ask(DefineSizes{{size("big", 4, 8)}});
  create("other", "big");
  join("other", "n2", inventory(4, gibibytes(8)));
  JobSpec spec = job_spec("typed");
  spec.resources.instance_type = "BIG";
  submit(spec);
  EXPECT_THAT(notes, ElementsAre(Why(TargetWasChosen{{"other"}, {}})));
  spec.name = "named";
  spec.compute = "plain";
  submit(spec);
  EXPECT_THAT(notes, ElementsAre(Why(InstanceTypeNotUsed{"BIG", "plain", "Standard_D4_v3"})));
}

TEST_F(SizeTest, TheCheaperOfTwoFreeTargetsIsChosen) {
  Size dear = size("dear", 4, 8), cheap = size("cheap", 4, 8);
  dear.price_per_hour = 3.06;
  cheap.price_per_hour = 0.5;
  ask(DefineSizes{{dear, cheap}});
  create("aaa", "dear");
  create("bbb", "cheap");
  join("aaa", "n1", inventory(4, gibibytes(8)));
  join("bbb", "n2", inventory(4, gibibytes(8)));
  submit(job_spec("job"));
  EXPECT_THAT(notes, ElementsAre(Why(TargetWasChosen{{"bbb", TargetIs::free, 0.5},
                                                     {{"aaa", TargetIs::free, 3.06}}})));
}

}  // namespace
}  // namespace lockstep::launcher
