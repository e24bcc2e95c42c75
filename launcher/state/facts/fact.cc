#include "launcher/state/facts/fact.h"

#include "common/domain/why/jobs/ends.h"

namespace lockstep::launcher {

namespace {

struct JobOf {
  const JobId* operator()(const JobSubmitted& fact) const { return &fact.job; }
  const JobId* operator()(const CancelRequested& fact) const { return &fact.job; }
  const JobId* operator()(const JobShared& fact) const { return &fact.job; }
  const JobId* operator()(const JobArchived& fact) const { return &fact.job; }
  const JobId* operator()(const JobAnnotated& fact) const { return &fact.job; }
  const JobId* operator()(const JobPriorityChanged& fact) const { return &fact.job; }
  const JobId* operator()(const DependencyMet& fact) const { return &fact.job; }
  const JobId* operator()(const JobAtHead& fact) const { return &fact.job; }
  const JobId* operator()(const JobRequeued& fact) const { return &fact.job; }
  const JobId* operator()(const JobFinished& fact) const { return &fact.job; }
  const JobId* operator()(const OutputsMerged& fact) const { return &fact.job; }
  const JobId* operator()(const OutputWritten& fact) const { return &fact.job; }
  const JobId* operator()(const OutputNotWritten& fact) const { return &fact.job; }
  const JobId* operator()(const StepReused& fact) const { return &fact.job; }
  const JobId* operator()(const StepSkipped& fact) const { return &fact.job; }
  const JobId* operator()(const AttemptPlaced& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const GangFormed& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const PartChanged& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const PartGone& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const AttemptDoomed& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const AttemptEnded& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const PartReleased& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const JobDeleted& fact) const { return &fact.job; }
  const JobId* operator()(const CheckpointSaved& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const OutputsSoFar& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const FoundChanged& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const FenceLifted& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const EnvironmentWanted& fact) const { return &fact.attempt.job; }
  const JobId* operator()(const EnvironmentNotSolved& fact) const { return &fact.attempt.job; }
  // Locks outlive the job for which they were made.
  const JobId* operator()(const EnvironmentLocked&) const { return nullptr; }
  const JobId* operator()(const EnvironmentReset&) const { return nullptr; }
  const JobId* operator()(const EnvironmentRegistered&) const { return nullptr; }
  const JobId* operator()(const EnvironmentsPruned&) const { return nullptr; }
  const JobId* operator()(const TokenCreated&) const { return nullptr; }
  const JobId* operator()(const TokenForgotten&) const { return nullptr; }
  const JobId* operator()(const NodeRevised&) const { return nullptr; }
  const JobId* operator()(const IncarnationBegan&) const { return nullptr; }
  const JobId* operator()(const NodeJoined&) const { return nullptr; }
  const JobId* operator()(const NodeApproved&) const { return nullptr; }
  const JobId* operator()(const NodeSessionStarted&) const { return nullptr; }
  const JobId* operator()(const NodeLost&) const { return nullptr; }
  const JobId* operator()(const NodeDrainChanged&) const { return nullptr; }
  const JobId* operator()(const NodeRemoved&) const { return nullptr; }
  const JobId* operator()(const ProjectCreated&) const { return nullptr; }
  const JobId* operator()(const ProjectRemoved&) const { return nullptr; }
  const JobId* operator()(const UserAdded&) const { return nullptr; }
  const JobId* operator()(const UserAccountSet&) const { return nullptr; }
  const JobId* operator()(const UserRemoved&) const { return nullptr; }
  const JobId* operator()(const RoleGranted&) const { return nullptr; }
  const JobId* operator()(const RoleWithdrawn&) const { return nullptr; }
  const JobId* operator()(const UserKeyAdded&) const { return nullptr; }
  const JobId* operator()(const UserKeyRevoked&) const { return nullptr; }
  const JobId* operator()(const RecentUseSet&) const { return nullptr; }
  const JobId* operator()(const QuotaSet&) const { return nullptr; }
  const JobId* operator()(const ComputeCreated&) const { return nullptr; }
  const JobId* operator()(const ComputeUpdated&) const { return nullptr; }
  const JobId* operator()(const ComputeDeleted&) const { return nullptr; }
  const JobId* operator()(const ComputeLeaving&) const { return nullptr; }
  const JobId* operator()(const MachineWanted&) const { return nullptr; }
  const JobId* operator()(const InstanceStarted&) const { return nullptr; }
  const JobId* operator()(const InstanceStopped&) const { return nullptr; }
  const JobId* operator()(const MachineFound&) const { return nullptr; }
  const JobId* operator()(const MachineCreated&) const { return nullptr; }
  const JobId* operator()(const MachineFailed&) const { return nullptr; }
  const JobId* operator()(const MachineLeaving&) const { return nullptr; }
  const JobId* operator()(const MachineGone&) const { return nullptr; }
  const JobId* operator()(const AssetRegistered&) const { return nullptr; }
  const JobId* operator()(const AssetArchived&) const { return nullptr; }
  const JobId* operator()(const NameShared&) const { return nullptr; }
  const JobId* operator()(const VersionsDeleted&) const { return nullptr; }
  const JobId* operator()(const NameSettled&) const { return nullptr; }
  const JobId* operator()(const EnvironmentArchived&) const { return nullptr; }
  const JobId* operator()(const VersionAnnotated&) const { return nullptr; }
  const JobId* operator()(const SizeDefined&) const { return nullptr; }
  const JobId* operator()(const SizeRemoved&) const { return nullptr; }
  const JobId* operator()(const SizeGranted&) const { return nullptr; }
  const JobId* operator()(const NodeLabelsChanged&) const { return nullptr; }
  const JobId* operator()(const NodeNoticed&) const { return nullptr; }
};

}  // namespace

bool is_explained(const ExitReport& report) { return !report.why.is<StoppedUnasked>(); }

const JobId* job_of(const Fact& fact) { return std::visit(JobOf{}, fact); }

}  // namespace lockstep::launcher
