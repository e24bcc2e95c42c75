#pragma once
// The facts of the launcher, which the journal keeps; the launcher's state is their fold. Facts
// record results, not requests, and no field ever changes its meaning. Every state change, live or
// in recovery, is one State::apply(fact). Each fact is stamped with the Instant of the input that
// caused it.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/table.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/messages/views.h"
#include "common/domain/why/why.h"
#include "launcher/state/facts/attempt_facts.h"
#include "launcher/state/facts/environment_facts.h"
#include "launcher/state/facts/job_facts.h"
#include "launcher/state/facts/node_facts.h"
#include "launcher/state/people/assets.h"
#include "launcher/state/people/fair_share.h"
#include "launcher/state/people/principals.h"
#include "launcher/state/people/usage.h"
#include "launcher/state/targets/computes.h"
#include "launcher/state/targets/defined_sizes.h"
#include "launcher/state/targets/machines.h"

namespace lockstep::launcher {

// Attempts placed from now on have an incarnation of at least this.
struct IncarnationBegan {
  static constexpr int kBody = 9;
  std::uint64_t incarnation = 0;
  // The journal was restored from a backup: later facts are lost, but nodes may have seen their
  // effects.
  bool restored = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "era", s.incarnation);
    see(field<2>, "restored", s.restored);
  }
  friend bool operator==(const IncarnationBegan&, const IncarnationBegan&) = default;
};
// Sets a user's recent use of a pool. Compaction writes this fact in place of the attempts that it
// dropped.
struct RecentUseSet {
  static constexpr int kBody = 98;
  std::string pool, user;
  Amounts recent;
  Instant until;  // the use before this time
  static void table(auto& s, auto&& see) {
    see(field<1>, "pool", s.pool);
    see(field<2>, "user", s.user);
    see(field<3>, "cpus", s.recent.cpus);
    see(field<4>, "gpus", s.recent.gpus);
    see(field<5>, "memory", s.recent.memory);
    see(field<6>, "until", s.until);
  }
  friend bool operator==(const RecentUseSet&, const RecentUseSet&) = default;
};

using Fact = std::variant<
    TokenCreated, NodeJoined, NodeSessionStarted, NodeLost, NodeDrainChanged, JobSubmitted,
    CancelRequested, AttemptPlaced, GangFormed, PartChanged, PartGone, AttemptDoomed, AttemptEnded,
    JobRequeued, PartReleased, JobFinished, NodeRemoved, TokenForgotten, NodeRevised,
    IncarnationBegan, JobDeleted, CheckpointSaved, FenceLifted, EnvironmentRegistered,
    EnvironmentWanted, EnvironmentLocked, EnvironmentReset, EnvironmentsPruned,
    EnvironmentNotSolved, ProjectCreated, ProjectRemoved, UserAdded, UserAccountSet, UserRemoved,
    RoleGranted, RoleWithdrawn, UserKeyAdded, UserKeyRevoked, QuotaSet, NodeApproved, JobShared,
    ComputeCreated, ComputeUpdated, ComputeDeleted, ComputeLeaving, MachineWanted, MachineCreated,
    MachineFailed, MachineLeaving, MachineGone, MachineFound, SizeDefined, SizeRemoved, SizeGranted,
    NodeLabelsChanged, JobPriorityChanged, DependencyMet, JobAtHead, RecentUseSet, NodeNoticed,
    InstanceStarted, InstanceStopped, AssetRegistered, AssetArchived, OutputsMerged, StepReused,
    StepSkipped, JobArchived, JobAnnotated, OutputWritten, OutputNotWritten, OutputsSoFar,
    NameShared, VersionsDeleted, NameSettled, EnvironmentArchived, VersionAnnotated, FoundChanged>;

// The job that a fact is about; null when it is about a node, a token or the launcher.
const JobId* job_of(const Fact& fact);

// Whether a report explains its attempt's end. False: a node stopped its ranks because of a failure
// elsewhere, whose report may still be on its way.
bool is_explained(const ExitReport& report);

struct StampedFact {
  Instant at;
  Fact fact;
  friend bool operator==(const StampedFact&, const StampedFact&) = default;
};

}  // namespace lockstep::launcher
