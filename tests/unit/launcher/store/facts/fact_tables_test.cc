// The tables of the facts.

#include "common/wire/data/asset_codec.h"
#include "common/wire/data/name_codec.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/job_codec.h"
#include "common/wire/people/access_codec.h"
#include "common/wire/people/quota_codec.h"
#include "common/wire/targets/compute_codec.h"
#include "common/wire/targets/node_codec.h"
#include "common/wire/targets/size_codec.h"
#include "launcher/store/facts/by_hand.h"
#include "proto/journal.access.h"
#include "tests/unit/common/wire/check_table.h"

namespace lockstep::test {
namespace {

TEST(FactTables, EachFactHasANumberOfItsOwn) { check_bodies<pb::Fact, launcher::Fact>(); }

TEST(FactTables, Jobs) {
  check_table<pb::JobShared, launcher::JobShared>();
  check_table<pb::EraBegan, launcher::IncarnationBegan>();
  check_table<pb::JobSource, launcher::JobSource>();
  check_table<pb::JobSubmitted, launcher::JobSubmitted>();
  check_table<pb::JobArchived, launcher::JobArchived>();
  check_table<pb::JobAnnotated, launcher::JobAnnotated>();
  check_table<pb::JobPriorityChanged, launcher::JobPriorityChanged>();
  check_table<pb::DependencyMet, launcher::DependencyMet>();
  check_table<pb::JobAtHead, launcher::JobAtHead>();
  check_table<pb::RecentUseSet, launcher::RecentUseSet>();
  check_table<pb::CancelRequested, launcher::CancelRequested>();
  check_table<pb::PartPlacement, launcher::PartPlacement>();
  check_table<pb::AttemptPlaced, launcher::AttemptPlaced>();
  check_table<pb::GangFormed, launcher::GangFormed>();
  check_table<pb::PartChanged, launcher::PartChanged>();
  check_table<pb::PartGone, launcher::PartGone>();
  check_table<pb::AttemptDoomed, launcher::AttemptDoomed>();
  check_table<pb::AttemptEnded, launcher::AttemptEnded>();
  check_table<pb::JobRequeued, launcher::JobRequeued>();
  check_table<pb::CheckpointSaved, launcher::CheckpointSaved>();
  check_table<pb::OutputsSoFar, launcher::OutputsSoFar>();
  check_table<pb::FoundChanged, launcher::FoundChanged>();
  check_table<pb::FenceLifted, launcher::FenceLifted>();
  check_table<pb::PartReleased, launcher::PartReleased>();
  check_table<pb::JobFinished, launcher::JobFinished>();
  check_table<pb::JobDeleted, launcher::JobDeleted>();
  check_table<pb::OutputsMerged, launcher::OutputsMerged>();
  check_table<pb::OutputWritten, launcher::OutputWritten>();
  check_table<pb::OutputNotWritten, launcher::OutputNotWritten>();
  check_table<pb::StepReused, launcher::StepReused>();
  check_table<pb::StepSkipped, launcher::StepSkipped>();
  check_table<pb::EnvironmentWanted, launcher::EnvironmentWanted>();
  check_table<pb::EnvironmentNotSolved, launcher::EnvironmentNotSolved>();
  check_table<pb::EnvironmentLocked, launcher::EnvironmentLocked>();
  check_table<pb::EnvironmentReset, launcher::EnvironmentReset>();
  check_table<pb::EnvironmentsPruned, launcher::EnvironmentsPruned>();
}

TEST(FactTables, Nodes) {
  check_table<pb::TokenCreated, launcher::TokenCreated>();
  check_table<pb::NodeJoined, launcher::NodeJoined>();
  check_table<pb::NodeApproved, launcher::NodeApproved>();
  check_table<pb::HostClaim, launcher::HostClaim>();
  check_table<pb::NodeSessionStarted, launcher::NodeSessionStarted>();
  check_table<pb::NodeLost, launcher::NodeLost>();
  check_table<pb::NodeDrainChanged, launcher::NodeDrainChanged>();
  check_table<pb::NodeRemoved, launcher::NodeRemoved>();
  check_table<pb::TokenForgotten, launcher::TokenForgotten>();
  check_table<pb::NodeRevised, launcher::NodeRevised>();
  check_table<pb::NodeLabelsChanged, launcher::NodeLabelsChanged>();
  check_table<pb::NodeNoticed, launcher::NodeNoticed>();
}

TEST(FactTables, Targets) {
  check_table<pb::ComputeChanged, launcher::ComputeCreated>();
  check_table<pb::ComputeChanged, launcher::ComputeUpdated>();
  check_table<pb::ComputeLeaving, launcher::ComputeLeaving>();
  check_table<pb::ComputeDeleted, launcher::ComputeDeleted>();
  check_table<pb::InstanceChanged, launcher::InstanceStarted>();
  check_table<pb::InstanceChanged, launcher::InstanceStopped>();
  check_table<pb::MachineWanted, launcher::MachineWanted>();
  check_table<pb::MachineFound, launcher::MachineFound>();
  check_table<pb::MachineCreated, launcher::MachineCreated>();
  check_table<pb::MachineFailed, launcher::MachineFailed>();
  check_table<pb::MachineLeaving, launcher::MachineLeaving>();
  check_table<pb::MachineGone, launcher::MachineGone>();
  check_table<pb::SizeDefined, launcher::SizeDefined>();
  check_table<pb::SizeRemoved, launcher::SizeRemoved>();
  check_table<pb::SizeGranted, launcher::SizeGranted>();
}

TEST(FactTables, People) {
  check_table<pb::ProjectCreated, launcher::ProjectCreated>();
  check_table<pb::ProjectRemoved, launcher::ProjectRemoved>();
  check_table<pb::UserAdded, launcher::UserAdded>();
  check_table<pb::UserAccountSet, launcher::UserAccountSet>();
  check_table<pb::UserRemoved, launcher::UserRemoved>();
  check_table<pb::RoleGranted, launcher::RoleGranted>();
  check_table<pb::RoleWithdrawn, launcher::RoleWithdrawn>();
  check_table<pb::UserKeyAdded, launcher::UserKeyAdded>();
  check_table<pb::UserKeyRevoked, launcher::UserKeyRevoked>();
  check_table<pb::QuotaSet, launcher::QuotaSet>();
}

TEST(FactTables, Names) {
  check_table<pb::EnvironmentRegistered, launcher::EnvironmentRegistered>();
  check_table<pb::AssetRegistered, launcher::AssetRegistered>();
  check_table<pb::NameShared, launcher::NameShared>();
  check_table<pb::VersionsDeleted, launcher::VersionsDeleted>();
  check_table<pb::NameSettled, launcher::NameSettled>();
  check_table<pb::EnvironmentArchived, launcher::EnvironmentArchived>();
  check_table<pb::VersionAnnotated, launcher::VersionAnnotated>();
  check_table<pb::AssetArchived, launcher::AssetArchived>();
}

}  // namespace
}  // namespace lockstep::test
