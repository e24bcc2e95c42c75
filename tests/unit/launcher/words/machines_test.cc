// Sentences of machines and targets whose form depends on what is in the reason.

#include <gtest/gtest.h>

#include "common/domain/why/all/redact.h"
#include "common/domain/why/nodes/machines.h"
#include "common/domain/why/nodes/placement.h"
#include "common/domain/why/nodes/providers.h"
#include "common/domain/why/nodes/targets.h"
#include "launcher/words/why.h"

namespace lockstep::words {
namespace {

NodesAsked some_nodes(int nodes) {
  NodesAsked asked;
  asked.nodes = nodes;
  return asked;
}

TEST(MachineWords, AMachineIsWantedForOneJobOrSeveral) {
  EXPECT_EQ(text_of(JobsNeedMachine{1, JobId("train")}), "job 'train' waits for it");
  EXPECT_EQ(text_of(JobsNeedMachine{3, JobId("train")}), "3 jobs wait, first job 'train'");
  EXPECT_EQ(text_of(JobsNeedMachine{1, hidden(HiddenJob::of_another_project)}),
            "a job of another project waits for it");
  EXPECT_EQ(text_of(JobsNeedMachine{2, hidden(HiddenJob::any)}), "2 jobs wait, first another job");
}

TEST(MachineWords, ReasonsStandWithinOthers) {
  const Why by = InstanceByUser{"ann"};
  EXPECT_EQ(text_of(InstanceIsOn{by}), "the compute instance was started by ann");
  EXPECT_EQ(text_of(InstanceStoppedSo{by}), "stopped by ann");
  const Why failed =
      MachineStepFailed{"start", MachineFault::no_space, ProviderSaid{"the disk is full"}};
  EXPECT_EQ(text_of(failed), "start: the disk is full");
  EXPECT_EQ(text_of(MachineHasFailed{failed}), "failed: start: the disk is full");
  EXPECT_EQ(text_of(MachineWentAway{MachineForgotten{failed}}),
            "gone: forgotten by force, because it could not be removed (start: the disk is full); "
            "an agent may still be there");
  EXPECT_EQ(text_of(ScaledDown{"lab-1", MachineNotMade{failed}}),
            "lab-1 leaves: it could not be made (start: the disk is full)");
}

TEST(MachineWords, AScheduleIsShownAsInItsFile) {
  EXPECT_EQ(text_of(InstanceBySchedule{{"*/2 * * * *", std::nullopt, ""}}),
            "by its schedule (cron '*/2 * * * *', UTC)");
  Trigger trigger;
  trigger.when = Recurrence{Frequency::week, 2, {8}, {30}, {1}, {}};
  trigger.time_zone = "Europe/Berlin";
  EXPECT_EQ(text_of(InstanceBySchedule{times_of(trigger)}),
            "by its schedule (" + to_string(trigger) + ")");
}

TEST(MachineWords, AJobWaitsForMachines) {
  WaitsForMachines waits;
  waits.asked = some_nodes(3);
  waits.target = "lab";
  EXPECT_EQ(text_of(waits), "waits for 3 nodes; target 'lab' has 0 nodes");
  waits.nodes = waits.coming = waits.leaving = 1;
  EXPECT_EQ(text_of(waits),
            "waits for 3 nodes; target 'lab' has 1 node, and 1 machine is being made, 1 being "
            "removed");
  waits.coming = 2;
  waits.leaving = 0;
  waits.pending = ProviderSaid{"Resources"};
  waits.failure = MachineStepFailed{"start", MachineFault::failed, ProviderSaid{"no"}};
  waits.retry_at = Instant{};
  EXPECT_EQ(text_of(waits),
            "waits for 3 nodes; target 'lab' has 1 node, and 2 machines are being made; its "
            "provider waits: Resources; the last machine could not be made: start: no; the next "
            "is tried at 1970-01-01T00:00:00.000Z, or at once by `lockstep compute update lab`");
  EXPECT_EQ(text_of(NeedsMoreHosts{some_nodes(2), "lab", 1}),
            "needs 2 nodes, and target 'lab' has only 1 host; `lockstep compute attach lab --host "
            "ADDRESS` adds one");
}

TEST(MachineWords, AParentHoldsWhatItsChildNeeds) {
  HeldByParent held{"", some_nodes(1), JobId("whole"), "local", {"n1", "n2"}};
  EXPECT_EQ(text_of(held),
            "needs 1 node, and job 'whole', which submits it, holds so much of target 'local' "
            "(n1, n2)");
  held.step = "prep";
  EXPECT_EQ(text_of(StartsAfterParent{held}),
            "step 'prep' needs 1 node, and job 'whole', which submits it, holds so much of target "
            "'local' (n1, n2): it starts when that has ended");
}

TEST(MachineWords, AProviderThatExitsMayHaveSaidWhy) {
  EXPECT_EQ(text_of(ProviderExited{9, ""}), "the provider exited with 9");
  EXPECT_EQ(text_of(ProviderNotUnderstood{"lab", ProviderExited{9, "not today"}}),
            "the provider exited with 9: not today; lines that it printed were not understood "
            "(`lockstep compute log lab`)");
}

}  // namespace
}  // namespace lockstep::words
