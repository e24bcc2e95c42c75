#include <gtest/gtest.h>

#include "common/domain/why/jobs/settings.h"
#include "common/domain/why/nodes/fit.h"
#include "common/domain/why/nodes/nodes.h"
#include "common/domain/why/nodes/placement.h"
#include "launcher/words/nodes/say_placement.h"
#include "launcher/words/why.h"

namespace lockstep::words {
namespace {

const AttemptId kFirst{JobId("first"), 1};

NodesAsked nodes(int count) {
  NodesAsked asked;
  asked.nodes = count;
  return asked;
}

TEST(PlacementWords, WhatAJobAsksFor) {
  EXPECT_EQ(describe(nodes(1)), "1 node");
  NodesAsked asked = nodes(2);
  asked.cpus = 4;
  asked.gpus = 1;
  EXPECT_EQ(describe(asked), "2 nodes with 4 cpus, 1 gpu each");
  asked.rdma = true;
  asked.labels = {{"rack", "a"}, {"disk", ""}};
  EXPECT_EQ(describe(asked),
            "2 nodes with 4 cpus, 1 gpu, label disk=, rack=a each, in one RDMA fabric");
  NodesAsked one = nodes(1);
  one.isolated = true;
  one.names = {"n1", "n2"};
  one.more_names = true;
  one.memory = gibibytes(2);
  one.rdma = true;
  EXPECT_EQ(describe(one), "1 isolated node of n1, n2, … with 2.0 GiB memory, RDMA");
}

TEST(PlacementWords, WhyANodeWaits) {
  EXPECT_EQ(text_of(WaitsForNodes{nodes(2), 1, {{"n1", HeldAsAWhole{JobId("first")}}}}),
            "waits for 2 nodes: 1 of them is free now (n1 is held as a whole by job 'first')");
  EXPECT_EQ(text_of(WaitsForNodes{nodes(2), 0, {}}), "waits for 2 nodes: 0 of them are free now");
  EXPECT_EQ(text_of(NodeHasFewerFree{NodeAmount::cpus, 1, 4, 2, kFirst, false}),
            "has 1 of its 4 cpus free, 2 asked for (first.1 runs there)");
  EXPECT_EQ(text_of(NodeHasFewerFree{NodeAmount::gpus, 0, 2, {}, kFirst, true}),
            "has 0 of its 2 gpus free, all (the job gives no amount) asked for (first.1 holds all "
            "gpus of the node, because it was submitted without --gpus; with --gpus, other jobs "
            "could use the rest)");
  EXPECT_EQ(text_of(NodeHasLessMemoryFree{gibibytes(2), gibibytes(8), gibibytes(3), kFirst, false}),
            "has 2.0 GiB of its 8.0 GiB memory free, 3.0 GiB asked for (first.1 runs there)");
  EXPECT_EQ(text_of(NodeHasTooLittleFree{NodeAmount::cpus, kFirst, false}),
            "has too few cpus free beside first.1");
  EXPECT_EQ(text_of(NodeHasTooLittleFree{NodeAmount::memory, kFirst, true}),
            "has too little memory free beside first.1 and others");
}

TEST(PlacementWords, WhatANodeDoesNotAllowNamesTheFlag) {
  EXPECT_EQ(text_of(NodeAllowsFewerProcesses{8'192, 8'193}),
            "allows a job at most 8,192 processes a rank, 8,193 requested (lockstep-agent "
            "--max-pids-limit)");
  EXPECT_EQ(
      text_of(NodeAllowsLessLog{gibibytes(1), gibibytes(2)}),
      "allows a job at most 1.0 GiB of logs, 2.0 GiB requested (lockstep-agent --max-log-limit)");
  EXPECT_EQ(text_of(NodeAllowsLessDisk{gibibytes(10), gibibytes(11)}),
            "allows a job at most 10.0 GiB of disk, 11.0 GiB requested (lockstep-agent "
            "--max-disk-limit)");
}

TEST(PlacementWords, WhatIsLessThanTheSizeOfTheTarget) {
  EXPECT_EQ(text_of(NodeHasFewerThanSize{NodeAmount::cpus, 2, "Standard_D4_v3", 4}),
            "has 2 cpus, but its size Standard_D4_v3 has 4");
  EXPECT_EQ(text_of(NodeHasLessMemoryThanSize{gibibytes(7), "Standard_D4_v3", gibibytes(8)}),
            "has 7.0 GiB memory, but its size Standard_D4_v3 has 8.0 GiB");
  EXPECT_EQ(text_of(NodeLacksRdmaOfSize{NodeHasNoRdma{}, "Standard_NC24rs_v3"}),
            "has no RDMA device, but its size Standard_NC24rs_v3 has RDMA");
}

TEST(PlacementWords, ANodeThatCannotBeUsed) {
  EXPECT_EQ(text_of(NodeDraining{"n1", ""}),
            "is draining; `lockstep node resume n1` lets it take work again");
  EXPECT_EQ(text_of(NodeSilent{NodeUnheard{}, seconds(125)}),
            "is UNKNOWN: it has not reported recently; silent for 2m05s");
  EXPECT_EQ(text_of(NodeTakesNoWork{told("its disk is low")}),
            "takes no new work: its disk is low");
  EXPECT_EQ(text_of(NodeOffersAnothersDevice{NodeAmount::cpus, 2, "n1", {"boot", ""}}),
            "offers cpu 2, which node n1 of the same machine (boot id boot) offers too; divide the "
            "machine: start each of its agents with its part of it (lockstep-agent --share 1/2 and "
            "--share 2/2, or --cpus, --memory and --gpus)");
}

TEST(PlacementWords, WhatThereIsInsteadOfNodes) {
  EXPECT_EQ(text_of(TargetHasNoNodesYet{nodes(1),
                                        "lab",
                                        {{{"lab-1", MachineStage::being_made, "", {}},
                                          {"lab-2", MachineStage::being_removed, "", {}},
                                          {"lab-3", MachineStage::failed, "create", told("no")}},
                                         2}}),
            "needs 1 node; target 'lab' has no nodes yet: lab-1 is being made; lab-2 is being "
            "removed; lab-3 failed (create: no); and 2 more");
  EXPECT_EQ(text_of(NodesWereRemoved{nodes(1), "lab", {"n1"}}),
            "needs 1 node, but target 'lab' has no node n1 any more; the job goes on if it comes "
            "back, or cancel it and name other nodes");
  EXPECT_EQ(text_of(NoMachineGivesThat{nodes(1), "lab", "", {}}),
            "needs 1 node, and no machine of target 'lab' could give that; `lockstep compute show "
            "lab` shows what its machines are");
  EXPECT_EQ(text_of(JobOutlivesMachines{"lab", minutes(90), minutes(60), "", false}),
            "the job may run for 1h30m (limits.timeout), and a machine of target 'lab' ends after "
            "1h00m; give the job a shorter limit (--timeout; limits.timeout in a job file), or the "
            "machines more time");
  TooFewNodesFit few;
  few.asked = nodes(3);
  few.target = "lab";
  few.fitting = 1;
  few.nodes = 2;
  EXPECT_EQ(text_of(few), "needs 3 nodes, but 1 of the 2 nodes of target 'lab' can take it");
  few.together = Together::network;
  few.passed_over = {{"n2", NodeHasFewer{NodeAmount::gpus, 0, 1}}};
  few.account = "ada";
  EXPECT_EQ(text_of(few),
            "needs 3 nodes, but 1 of the 2 nodes of target 'lab' together, in one network, can "
            "take it (n2 has 0 gpus, 1 asked for); create the account ada on a node and restart "
            "that node's lockstep-agent, or cancel the job");
}

TEST(PlacementWords, HowTheTargetWasChosen) {
  EXPECT_EQ(text_of(TargetWasChosen{{"lab"}, {}}), "target lab was chosen: free now");
  EXPECT_EQ(text_of(TargetWasChosen{{"bbb", TargetIs::free, 0.5},
                                    {{"aaa", TargetIs::busy, 3.06}, {"ccc", TargetIs::not_made}}}),
            "target bbb was chosen: free now, 0.5 an hour; others that fit: aaa (busy now, 3.06 an "
            "hour), ccc (its machines would have to be made)");
  EXPECT_EQ(text_of(InstanceTypeNotUsed{"big", "local", ""}),
            "resources.instance_type big is not used: target local has no size");
}

TEST(PlacementWords, ARankWithoutSettings) {
  EXPECT_EQ(text_of(SettingsOfNoRank{1}), "the job has rank 0 only");
  EXPECT_EQ(text_of(SettingsOfNoRank{8}), "the job has ranks 0 to 7");
}

}  // namespace
}  // namespace lockstep::words
