// The tables of jobs and how their ranks end, environments, gangs, assignments and reports of
// nodes, attachments, findings, and pipelines.

#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/attach_codec.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/job/job_codec.h"
#include "proto/assignment.access.h"
#include "proto/attach.access.h"
#include "proto/control.access.h"
#include "proto/environment.access.h"
#include "proto/fabric.access.h"
#include "proto/job.access.h"
#include "proto/views.access.h"
#include "tests/unit/common/wire/check_table.h"

namespace lockstep::test {
namespace {

TEST(JobTables, Environments) {
  check_table<pb::HostEnvironment, HostEnvironment>();
  check_table<pb::VenvEnvironment, VenvEnvironment>();
  check_table<pb::CondaEnvironment, CondaEnvironment>();
  check_table<pb::ImageBuild, ImageBuild>();
  check_table<pb::DockerEnvironment, DockerEnvironment>();
  check_table<pb::EnvironmentSpec, EnvironmentSpec>();
  check_table<pb::RegisteredEnvironment, RegisteredEnvironment>();
  check_table<pb::EnvironmentLock, EnvironmentLock>();
  check_table<pb::EnvironmentPlan, EnvironmentPlan>();
  check_table<pb::EnvironmentReport, EnvironmentReport>();
  check_table<pb::Container, Container>();
  check_table<pb::Activation, Activation>();
  check_table<pb::EnvironmentLockView, EnvironmentView::Lock>();
  check_table<pb::EnvironmentView, EnvironmentView>();
  check_table<pb::CreateEnvironment, CreateEnvironment>();
  check_table<pb::ShowEnvironment, ShowEnvironment>();
  check_table<pb::ListEnvironments, ListEnvironments>();
  check_table<pb::ArchiveEnvironment, ArchiveEnvironment>();
  check_table<pb::PruneEnvironments, PruneEnvironments>();
  check_table<pb::EnvironmentReply, EnvironmentReply>();
  check_table<pb::EnvironmentsReply, EnvironmentsReply>();
}

TEST(JobTables, Assignments) {
  check_table<pb::AttemptId, AttemptId>();
  check_table<pb::Allotment, Allotment>();
  check_table<pb::GangMember, GangMember>();
  check_table<pb::GangTable, GangTable>();
  check_table<pb::GangShare, GangShare>();
  check_table<pb::Assignment, Assignment>();
  check_table<pb::DesiredState, DesiredState>();
  check_table<pb::PartReport, PartReport>();
}

TEST(JobTables, Attachments) {
  check_table<pb::TerminalSize, TerminalSize>();
  check_table<pb::AttachProgram, AttachProgram>();
  check_table<pb::AttachMain, AttachMain>();
  check_table<pb::AttachSignal, AttachSignal>();
  check_table<pb::AttachStacks, AttachStacks>();
  check_table<pb::AttachOpen, AttachOpen>();
  check_table<pb::AttachOpened, AttachOpened>();
  check_table<pb::AttachData, AttachData>();
  check_table<pb::AttachTaken, AttachTaken>();
  check_table<pb::AttachResize, AttachResize>();
  check_table<pb::AttachNotify, AttachNotify>();
  check_table<pb::AttachAlive, AttachAlive>();
  check_table<pb::AttachEnd, AttachEnd>();
  check_table<pb::AttachClose, AttachClose>();
  check_table<pb::AttachRefused, AttachRefused>();
  check_table<pb::AttachFrame, AttachFrame>();
}

TEST(JobTables, Findings) {
  check_table<pb::FoundRank, FoundRank>();
  check_table<pb::Found, Found>();
  check_table<pb::CollectiveCount, CollectiveCount>();
  check_table<pb::Hindrances, Hindrances>();
  check_table<pb::RankStanding, RankStanding>();
  check_table<pb::RankPace, RankPace>();
}

TEST(JobTables, Pipelines) {
  check_table<pb::StepBinding, StepBinding>();
  check_table<pb::PipelineStep, PipelineStep>();
  check_table<pb::PipelineOutput, PipelineOutput>();
  check_table<pb::PipelineSpec, PipelineSpec>();
  check_table<pb::ArrayTask, ArrayTask>();
}

TEST(JobTables, Jobs) {
  check_table<pb::RaySettings, RaySettings>();
  check_table<pb::ResourceRequest, ResourceRequest>();
  check_table<pb::LimitRequest, LimitRequest>();
  check_table<pb::EarlySignal, EarlySignal>();
  check_table<pb::After, After>();
  check_table<pb::JobSpec, JobSpec>();
}

// Some of their members are fields of JobSpec.
template <class Wire, class T>
void check_lines() {
  T value;
  TableCheck<Wire> check;
  T::table(value, check);
  check.finish();
}
TEST(JobTables, PartsOfAJobThatEarlierVersionsHadElsewhere) {
  check_lines<pb::Distribution, Distribution>();
  check_lines<pb::RetryPolicy, RetryPolicy>();
}

TEST(JobTables, Ends) {
  check_table<pb::RankEnd, RankEnd>();
  check_table<pb::LostPeer, LostPeer>();
  check_table<pb::RankExit, RankExit>();
  check_table<pb::LogSize, LogSize>();
  check_table<pb::PeerAbort, PeerAbort>();
  check_table<pb::ClockOffset, ClockOffset>();
  check_table<pb::NodeExitReport, NodeExitReport>();
  check_table<pb::PossibleFirst, PossibleFirst>();
  check_table<pb::NodeClock, NodeClock>();
  check_table<pb::ExitReport, ExitReport>();
}

TEST(JobTables, AStepIsNoPipeline) {
  pb::PipelineStep wire;
  to_wire(filled<PipelineStep>(), &wire);
  to_wire(pipeline_job(), wire.mutable_spec());
  PipelineStep step;
  const Status read = from_wire(wire, &step);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "message field pipeline_step.spec: is a pipeline");
}

}  // namespace
}  // namespace lockstep::test
