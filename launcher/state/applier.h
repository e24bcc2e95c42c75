#pragma once
// The transition table of the launcher: one overload for each fact, which makes the fact's change
// in the state, and nothing else. Part of State, and included only by its .cc files. The overloads
// are defined by subject: apply_nodes.cc, apply_jobs.cc, apply_attempts.cc, apply_names.cc and
// apply_environments.cc; those that only pass the fact on to a member of State are below.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/utf8.h"
#include "common/domain/why/jobs/orders.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

struct State::Applier {
  State& state;
  Instant at;

  void record(Job& job, Event::Kind kind, const AttemptId& attempt = {}, NodeId node = {},
              Why why = {}) const {
    job.events.add({at, kind, attempt.number, node, std::move(why)});
  }
  void record(Node& node, std::string what, Why why = {}) const {
    if (node.history.size() >= kMaxNodeEvents) node.history.erase(node.history.begin());
    node.history.push_back({at, std::move(what), std::move(why)});
  }
  // The first words of a user's text, for an event.
  static Why beginning(std::string_view text) {
    return told(std::string(head(text, kMaxNodeEventBytes)));
  }
  // The pool of a fact. Facts from before pools existed have none, and mean "local".
  template <typename Of>
  static std::string pool_in(const Of& fact) {
    return fact.pool.empty() ? std::string(kLocalCompute) : fact.pool;
  }

  // Tokens and nodes.

  void operator()(const TokenCreated& fact) const;
  void operator()(const TokenForgotten& fact) const { state.tokens_.erase(fact.secret_hash); }
  void operator()(const NodeRevised& fact) const;
  void operator()(const IncarnationBegan& fact) const;
  void operator()(const NodeJoined& fact) const;
  void operator()(const NodeApproved& fact) const;
  void operator()(const NodeSessionStarted& fact) const;
  void record_session(Node& node, const NodeSessionStarted& fact) const;
  void claim_host(Node& node, const NodeSessionStarted& fact) const;
  void operator()(const NodeLost& fact) const;
  void operator()(const NodeDrainChanged& fact) const;
  void operator()(const NodeNoticed& fact) const;
  void operator()(const NodeRemoved& fact) const;
  void operator()(const NodeLabelsChanged& fact) const;

  // Jobs, pipelines and outputs.

  void operator()(const JobSubmitted& fact) const;
  Job new_job(const JobSubmitted& fact) const;
  void add_to_tables(const Job& job) const;
  void hold_sources(const Job& job) const;
  void release_sources(const Job& job) const;
  void operator()(const CancelRequested& fact) const;
  void operator()(const JobPriorityChanged& fact) const;
  void operator()(const DependencyMet& fact) const;
  void operator()(const JobAtHead& fact) const;
  static void leave_head(Job& job);
  void operator()(const RecentUseSet& fact) const {
    state.shares_.set_recent(fact.pool, fact.user, fact.recent, fact.until);
  }
  void operator()(const JobShared& fact) const;
  void operator()(const JobArchived& fact) const {
    state.job_ref(fact.job).archived = fact.archived;
  }
  void operator()(const JobAnnotated& fact) const;
  void operator()(const JobFinished& fact) const;
  void operator()(const OutputsMerged& fact) const;
  void operator()(const OutputWritten& fact) const;
  void operator()(const OutputNotWritten& fact) const;
  static OutputWrite& write_ref(Job& job, const std::string& output);
  void count_unwritten(Job& job, int more) const;
  void write_settled(Job& job) const;
  void note_ended(const Job& job) const;
  void operator()(const StepReused& fact) const;
  void operator()(const StepSkipped& fact) const;
  void join_pipeline(Job& job) const;
  void join_parent(Job& job) const;
  std::uint64_t family_below(const Job& job) const;
  void leave_family(const Job& job) const;
  void forget_parent(const JobId& child) const;
  void leave_pipeline(const Job& job) const;
  static bool is_whole(const std::vector<MergedOutput>& outputs);
  void forget_reusable(const Job& job) const;
  void operator()(const JobDeleted& fact) const;

  // Attempts and parts.

  void record_part(const PartChanged& fact, const Attempt& attempt,
                   const Attempt::Tally& before) const;
  void record_end(const PartChanged& fact, Part& part) const;
  static std::uint64_t files_of(const JobSize& size) {
    return size.logs.count + size.outputs.count;
  }
  void files_changed(const JobId& job, const Part& part, std::uint64_t before) const;
  void operator()(const AttemptPlaced& fact) const;
  void operator()(const GangFormed& fact) const;
  void operator()(const PartChanged& fact) const;
  static void keep_known(const PartReport& known, PartReport& report);
  void operator()(const FoundChanged& fact) const;
  static NodeId node_of(const Attempt& attempt, const Found& found);
  void operator()(const PartGone& fact) const;
  void operator()(const AttemptDoomed& fact) const;
  void operator()(const AttemptEnded& fact) const;
  void operator()(const JobRequeued& fact) const;
  void operator()(const PartReleased& fact) const;
  void operator()(const CheckpointSaved& fact) const;
  void operator()(const OutputsSoFar& fact) const;
  void operator()(const FenceLifted& fact) const;
  void use(Node& node, const Part& part, const JobSpec& spec, int by) const;
  static Usage usage_of(const Part& part);
  void free(const JobId& job, const Part& part) const;
  static void count(Attempt::Tally& tally, const Part& part, int by);

  // Locks of environments.

  // Tells that parts of other jobs may have waited for this job's node to solve: see solver_of in
  // attempts/environment_locks.h.
  void solver_may_change(const Job& job) const {
    if (job.has_asked()) state.touch_environment(*job.environment);
  }
  void operator()(const EnvironmentWanted& fact) const;
  void operator()(const EnvironmentNotSolved& fact) const;
  void operator()(const EnvironmentLocked& fact) const;
  void operator()(const EnvironmentReset& fact) const;
  void reset(const EnvironmentId& id, std::uint64_t generation) const;
  void operator()(const EnvironmentsPruned& fact) const;

  // Names and their versions.

  void operator()(const EnvironmentRegistered& fact) const;
  void operator()(const EnvironmentArchived& fact) const;
  void operator()(const VersionAnnotated& fact) const;
  void annotate_environment(const VersionAnnotated& fact) const;
  void grow(const VersionAnnotated& fact, const std::string& by, std::int64_t bytes) const;
  static Names::Version version_of(const EnvironmentVersion& version);
  // `Registered` is AssetRegistered or AssetVersion.
  template <typename Registered>
  static Names::Version version_of_asset(const Registered& one) {
    const RegisteredAsset& asset = one.asset;
    return {{name_kind_of(kind_of(asset)), asset.name},
            asset.version,
            one.by,
            version_bytes(asset),
            one.files.value_or(Bytes{})};
  }
  void operator()(const VersionsDeleted& fact) const;
  bool remove_version(const VersionsDeleted& fact) const;
  bool remove_asset(AssetKind kind, const std::string& name, const std::string& version) const;
  bool remove_environment(const std::string& name, const std::string& version) const;
  void operator()(const NameShared& fact) const { state.owned_names_.apply(fact); }
  void operator()(const NameSettled& fact) const { state.owned_names_.apply(fact, state.usage_); }
  void operator()(const AssetRegistered& fact) const;
  void operator()(const AssetArchived& fact) const { state.assets_.apply(fact); }

  // Users, keys, roles and projects.

  void operator()(const ProjectCreated& fact) const { state.principals_.apply(at, fact); }
  void operator()(const ProjectRemoved& fact) const { state.principals_.apply(at, fact); }
  void operator()(const UserAdded& fact) const { state.principals_.apply(at, fact); }
  void operator()(const UserAccountSet& fact) const { state.principals_.apply(at, fact); }
  void operator()(const UserRemoved& fact) const { state.principals_.apply(at, fact); }
  void operator()(const RoleGranted& fact) const { state.principals_.apply(at, fact); }
  void operator()(const RoleWithdrawn& fact) const { state.principals_.apply(at, fact); }
  void operator()(const UserKeyAdded& fact) const { state.principals_.apply(at, fact); }
  void operator()(const UserKeyRevoked& fact) const { state.principals_.apply(at, fact); }
  void operator()(const QuotaSet& fact) const { state.principals_.apply(at, fact); }

  // Targets, machines and sizes.

  void operator()(const ComputeCreated& fact) const { state.computes_.apply(at, fact); }
  void operator()(const ComputeUpdated& fact) const { state.computes_.apply(at, fact); }
  void operator()(const ComputeDeleted& fact) const {
    state.computes_.apply(at, fact);
    state.shares_.forget_pool(fact.name);
  }
  void operator()(const ComputeLeaving& fact) const { state.computes_.apply(at, fact); }
  void operator()(const InstanceStarted& fact) const { state.computes_.apply(at, fact); }
  void operator()(const InstanceStopped& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineWanted& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineFound& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineCreated& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineFailed& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineLeaving& fact) const { state.computes_.apply(at, fact); }
  void operator()(const MachineGone& fact) const { state.computes_.apply(at, fact); }
  void operator()(const SizeDefined& fact) const { state.sizes_.apply(fact); }
  void operator()(const SizeRemoved& fact) const { state.sizes_.apply(fact); }
  void operator()(const SizeGranted& fact) const { state.sizes_.apply(fact); }
};

}  // namespace lockstep::launcher
