#include "launcher/core/effects.h"

#include <algorithm>

#include "launcher/core/attempts/fences.h"
#include "launcher/core/nodes/health.h"
#include "launcher/core/nodes/shared_machine.h"
#include "launcher/core/nodes/size_check.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

namespace {

// One overload for each fact and no generic one, so that a new fact does not compile until its
// effects are stated here.
struct Effects {
  Context& core;

  // ---- jobs

  void operator()(const JobSubmitted& fact) const {
    const Job& job = changed(fact.job);
    if (job.is_waiting()) enqueue(core, job);
  }
  void operator()(const CancelRequested& fact) const {
    const Job& job = changed(fact.job);
    touch_last_attempt(job);
    dequeue(core.scheduler, core.retries, job);
    demand_changed(core, job);
    look_at_children(fact.job);
  }
  void operator()(const JobPriorityChanged& fact) const { move(changed(fact.job)); }
  void operator()(const DependencyMet& fact) const {
    const Job& job = changed(fact.job);
    if (job.is_queued() && job.waiting().waits_for.empty()) enqueue(core, job);
  }
  void operator()(const JobAtHead& fact) const { move(changed(fact.job)); }
  void operator()(const JobShared& fact) const {
    const Job& job = changed(fact.job);
    if (fact.shared) return;
    core.act(ReadersChanged{fact.job});
    if (job.steps)
      for (const JobId& step : job.steps->jobs()) core.act(ReadersChanged{step});
  }
  void operator()(const JobArchived& fact) const { changed(fact.job); }
  void operator()(const JobAnnotated& fact) const { changed(fact.job); }
  void operator()(const JobRequeued& fact) const { enqueue(core, changed(fact.job)); }
  void operator()(const JobFinished& fact) const {
    const Job& job = changed(fact.job);
    core.retention.is_due = true;
    core.endings.finish(fact.job);
    if (!job.spec.step.empty())
      if (const Job* parent = core.state.job(job.spec.parent)) changed(parent->id);
    for (const std::uint64_t order : core.state.dependents(fact.job))
      core.pending.dirty_jobs.insert(core.state.submitted().at(order));
    const bool lacked_account =
        std::any_of(job.attempts.begin(), job.attempts.end(), [](const Attempt& attempt) {
          return attempt.ended && attempt.ended->cause == Cause::account_missing;
        });
    if (lacked_account)
      core.scheduler.topology_changed(job.pool);  // nodes may be asked for it again
  }
  void operator()(const OutputsMerged& fact) const { changed(fact.job); }
  void operator()(const OutputWritten& fact) const { write_settled(fact.job); }
  void operator()(const OutputNotWritten& fact) const { write_settled(fact.job); }
  void operator()(const StepReused& fact) const { changed(fact.job); }
  void operator()(const StepSkipped& fact) const { changed(fact.job); }
  void operator()(const JobDeleted& fact) const {
    core.endings.forget(fact.job);
    core.pending.job_changed(fact.job);
    core.retries.clear({TimerKey::Kind::write, {}, {fact.job, 0}});
  }

  // ---- attempts

  void operator()(const AttemptPlaced& fact) const {
    const Job& job = changed(fact.attempt.job);
    touch_last_attempt(job);
    core.scheduler.remove(job);
    demand_changed(core, job);
    core.timers.set({TimerKey::Kind::prepare, {}, fact.attempt},
                    core.clock.polled() + core.config.time_to_prepare(job.spec));
  }
  void operator()(const GangFormed& fact) const { touch_last_attempt(changed(fact.attempt.job)); }
  void operator()(const AttemptDoomed& fact) const {
    touch_last_attempt(changed(fact.attempt.job));
  }
  void operator()(const AttemptEnded& fact) const {
    changed(fact.attempt.job);
    look_at_children(fact.attempt.job);
    core.timers.clear({TimerKey::Kind::prepare, {}, fact.attempt});
    core.scheduler.use_fell();
    quotas_changed();
  }
  // A part that goes on may leave solving to the other parts, as it did before. Their nodes learn
  // the new revisions with their next heartbeats, which saves one message for each part that goes
  // on.
  void operator()(const PartChanged& fact) const {
    const Job& job = noted(fact.attempt.job);
    if (fact.report.state == PartState::finished) touch_solvers(job);
    NodeWatch& watch = core.watches.at(fact.node);
    watch.progress.erase(fact.attempt);
    if (fact.report.state == PartState::finished) {
      watch.so_far.erase(fact.attempt);
      watch.limits.erase(fact.attempt);
      watch.ended.erase(fact.attempt);
      watch.findings.erase(fact.attempt);
      watch.settings.erase(fact.attempt);
      watch.outputs_refused.erase(fact.attempt);
      core.watches.live_logs.forget(fact.attempt, fact.node);
      capacity_changed(fact.attempt.job, fact.node);
    }
    const auto& exit = fact.report.exit;
    if (exit && exit->cause == Cause::account_missing) note_lacking_account(fact, exit->why);
    if (exit && exit->cause == Cause::account_missing)
      core.scheduler.topology_changed(pool_of(fact.node));
  }
  void operator()(const PartGone& fact) const {
    changed(fact.attempt.job);
    touch_machine_of(fact.node);
    core.pending.touched_nodes.insert(fact.node);
    NodeWatch& watch = core.watches.at(fact.node);
    watch.so_far.erase(fact.attempt);
    watch.limits.erase(fact.attempt);
    watch.ended.erase(fact.attempt);
    watch.findings.erase(fact.attempt);
    watch.settings.erase(fact.attempt);
    watch.logs_refused.erase(fact.attempt);
    watch.logs_wait.erase(fact.attempt);
    watch.outputs_refused.erase(fact.attempt);
    core.watches.live_logs.forget(fact.attempt, fact.node);
    capacity_changed(fact.attempt.job, fact.node);
  }
  void operator()(const PartReleased& fact) const {
    changed(fact.attempt.job);
    touch_machine_of(fact.node);
    core.pending.touched_nodes.insert(fact.node);
    core.timers.clear({TimerKey::Kind::logs, fact.node, fact.attempt});
    core.watches.at(fact.node).logs_refused.erase(fact.attempt);
    core.watches.at(fact.node).logs_wait.erase(fact.attempt);
  }
  void operator()(const CheckpointSaved& fact) const { changed(fact.attempt.job); }
  void operator()(const OutputsSoFar&) const {}
  void operator()(const FoundChanged& fact) const { changed(fact.attempt.job); }
  void operator()(const FenceLifted& fact) const {
    const Job& job = changed(fact.attempt.job);
    if (core.retries.is_set({TimerKey::Kind::retry, {}, {job.id, 0}})) enqueue(core, job);
  }

  // ---- environments

  void operator()(const AssetRegistered&) const {}
  void operator()(const AssetArchived&) const {}
  void operator()(const NameShared&) const {}
  void operator()(const VersionsDeleted&) const {}
  void operator()(const NameSettled&) const {}
  void operator()(const EnvironmentArchived&) const {}
  void operator()(const VersionAnnotated&) const {}
  void operator()(const EnvironmentRegistered&) const {}
  void operator()(const EnvironmentWanted& fact) const { changed(fact.attempt.job); }
  void operator()(const EnvironmentNotSolved& fact) const { changed(fact.attempt.job); }
  // Live facts always name the account and the family; only old journals lack them.
  void operator()(const EnvironmentLocked& fact) const {
    if (fact.account) touch({fact.definition, *fact.account, fact.family.value_or(0)});
  }
  void operator()(const EnvironmentReset& fact) const {
    if (fact.account) touch({fact.definition, *fact.account, fact.family});
  }
  void operator()(const EnvironmentsPruned&) const {
    for (const auto& [id, node] : core.state.nodes()) core.pending.touched_nodes.insert(id);
  }

  // ---- nodes, tokens and the launcher

  void operator()(const NodeJoined& fact) const {
    touch_machine_of(fact.node);
    const Node& node = *core.state.node(fact.node);
    if (MachineRecord* machine = core.machines.find(node.pool, node.machine))
      machine->waiting.reset();
    core.watches.at(fact.node).heard = core.clock.polled();
    arm_node_timer(core, fact.node);
    core.scheduler.topology_changed(pool_of(fact.node));
  }
  void operator()(const NodeApproved& fact) const {
    core.scheduler.topology_changed(pool_of(fact.node));
  }
  void operator()(const NodeSessionStarted& fact) const {
    touch_machine_of(fact.node);
    const Node& node = *core.state.node(fact.node);
    if (MachineRecord* machine = core.machines.find(node.pool, node.machine)) machine->revival = {};
    lockstep::launcher::machine_changed(core, fact.node);
    const bool is_usable = core.watches.shortfall_of(fact.node) == nullptr;
    if (!node.machine.empty() && is_usable)
      core.samples.learn(node.pool, node.machine, node.inventory);
    core.scheduler.topology_changed(pool_of(fact.node));
  }
  void operator()(const NodeLost& fact) const {
    touch_machine_of(fact.node);
    NodeWatch& watch = core.watches.at(fact.node);
    watch.liveness = Liveness::lost;
    watch.live.reset();
    watch.progress.clear();
    watch.so_far.clear();
    watch.limits.clear();
    watch.ended.clear();
    watch.settings.clear();
    watch.findings.clear();
    watch.logs_refused.clear();
    watch.logs_wait.clear();
    watch.outputs_refused.clear();
    lockstep::launcher::machine_changed(core, fact.node);
    core.scheduler.topology_changed(pool_of(fact.node));
  }
  void operator()(const NodeDrainChanged& fact) const {
    touch_machine_of(fact.node);
    core.scheduler.topology_changed(pool_of(fact.node));
  }
  void operator()(const NodeNoticed& fact) const {
    touch_machine_of(fact.node);
    core.scheduler.topology_changed(pool_of(fact.node));
  }
  void operator()(const NodeLabelsChanged& fact) const {
    core.scheduler.topology_changed(pool_of(fact.node));
  }
  void operator()(const NodeRevised& fact) const {
    core.scheduler.topology_changed(pool_of(fact.node));
  }
  void operator()(const NodeRemoved& fact) const {
    for (const auto& [name, compute] : core.state.computes().all())
      if (has_provider(compute.spec)) touch_target(name);
    core.timers.clear({TimerKey::Kind::node, fact.node, {}});
    note_machine(core, fact.node, {});
    core.watches.forget(fact.node);
    core.pending.touched_nodes.erase(fact.node);
    core.scheduler.topology_changed();
  }
  void operator()(const TokenCreated&) const { core.retention.is_due = true; }
  void operator()(const TokenForgotten&) const {}
  void operator()(const IncarnationBegan&) const { core.scheduler.topology_changed(); }

  // ---- users

  void operator()(const ProjectCreated&) const {}
  void operator()(const ProjectRemoved&) const {}
  void operator()(const UserAdded&) const {}  // the user has no permission before a role is granted
  void operator()(const UserAccountSet&) const { accounts_changed(); }
  void operator()(const RoleGranted& fact) const {
    if (fact.grant.role == Role::admin || fact.grant.role == Role::submitter) accounts_changed();
  }
  void operator()(const RoleWithdrawn& fact) const { core.act(UserChanged{fact.user}); }
  void operator()(const UserRemoved& fact) const { core.act(UserChanged{fact.name}); }
  void operator()(const UserKeyAdded& fact) const {
    core.act(AllowUser{fact.key, fact.user, fact.from_file});
  }
  void operator()(const UserKeyRevoked& fact) const { core.act(RevokeUser{fact.key}); }
  void operator()(const RecentUseSet&) const {}
  void operator()(const QuotaSet&) const {
    core.scheduler.quota_changed();
    quotas_changed();
    core.retention.is_due = true;
  }

  // ---- compute targets

  // Nothing waits for a new target: jobs are submitted only to a target that exists, and a target
  // with jobs is not deleted.
  void operator()(const ComputeCreated& fact) const { touch_target(fact.spec.name); }
  void operator()(const ComputeUpdated& fact) const {
    core.samples.forget(fact.spec.name);
    check_size_of_target(core, fact.spec.name);
    machine_changed(fact.spec.name);
  }
  void operator()(const ComputeDeleted& fact) const {
    touch_target(fact.name);
    core.samples.forget(fact.name);
    core.machines.targets.erase(fact.name);
    core.act(ForgetCompute{fact.name});
  }
  void operator()(const ComputeLeaving& fact) const { touch_target(fact.name); }

  void operator()(const InstanceStarted& fact) const { machine_changed(fact.target); }
  void operator()(const InstanceStopped& fact) const { machine_changed(fact.target); }

  // ---- sizes

  void operator()(const SizeDefined& fact) const { size_changed(core, fact.size.name); }
  void operator()(const SizeRemoved& fact) const { size_changed(core, fact.name); }
  void operator()(const SizeGranted&) const {}

  // ---- machines

  void operator()(const MachineWanted& fact) const { machine_changed(fact.target); }
  void operator()(const MachineFound& fact) const { machine_changed(fact.target); }
  void operator()(const MachineCreated& fact) const { machine_changed(fact.target); }
  void operator()(const MachineFailed& fact) const { machine_changed(fact.target); }
  void operator()(const MachineLeaving& fact) const { machine_changed(fact.target); }
  void operator()(const MachineGone& fact) const {
    core.machines.forget(fact.target, fact.machine);
    machine_changed(fact.target);
  }

  // Tells that none of the job's outputs waits to be written: retention may now delete the job.
  void write_settled(const JobId& job) const {
    changed(job);
    core.retention.is_due = true;
  }
  // Jobs that were held back by a quota may need machines now.
  void quotas_changed() const {
    if (core.state.principals().quotas().empty()) return;
    for (const auto& [name, compute] : core.state.computes().all())
      if (is_elastic(compute.spec)) touch_target(name);
  }
  void touch_target(const std::string& target) const { core.pending.dirty_targets.insert(target); }
  // Tells running containers that they need the accounts of new users.
  void accounts_changed() const {
    for (const auto& [target, compute] : core.state.computes().all()) {
      const NodeSource source = compute.spec.source;
      if (source != NodeSource::docker && source != NodeSource::kubernetes) continue;
      core.samples.forget_accounts(target);
      for (const auto& [name, machine] : compute.machines)
        if (source == NodeSource::docker && machine.node.value != 0)
          core.machines.record(target, name).must_refresh = true;
      machine_changed(target);
    }
  }
  void note_lacking_account(const PartChanged& fact, const Why& why) const {
    const Node& node = *core.state.node(fact.node);
    if (node.machine.empty()) return;
    const std::string& account = core.state.job(fact.attempt.job)->spec.run_as;
    core.samples.lacks(node.pool, node.machine, account, why, core.now);
  }
  // Updates the jobs that wait for this target, because their reasons name its machines.
  void machine_changed(const std::string& target) const {
    touch_target(target);
    core.scheduler.topology_changed(target);
  }
  // Tells that a call of the node's provider may be due now.
  void touch_machine_of(NodeId id) const {
    const Node* node = core.state.node(id);
    if (node != nullptr && !node->machine.empty()) touch_target(node->pool);
  }

  // Moves the job to its new place in the queue, if it is queued.
  void move(const Job& job) const {
    if (core.scheduler.has(job)) core.scheduler.add(job);
  }

  // Resources on the node are free. The end of an isolated job also frees the other nodes of its
  // host, in every pool.
  void capacity_changed(const JobId& job, NodeId id) const {
    core.scheduler.capacity_changed(pool_of(id));
    if (!core.state.job(job)->spec.resources.isolated) return;
    const Node& node = *core.state.node(id);
    for (const NodeId other : core.state.nodes_on_host(node.inventory.host_id))
      core.scheduler.capacity_changed(pool_of(other));
  }

  const std::string& pool_of(NodeId node) const { return core.state.node(node)->pool; }

  // Marks the job as changed, as every fact about an existing job does.
  const Job& changed(const JobId& id) const {
    const Job& job = noted(id);
    touch_solvers(job);
    return job;
  }
  const Job& noted(const JobId& id) const {
    core.pending.job_changed(id);
    core.pending.dirty_jobs.insert(id);
    const Job& job = *core.state.job(id);
    if (!job.spec.step.empty()) core.pending.job_changed(job.spec.parent);
    return job;
  }
  void touch_solvers(const Job& job) const {
    if (job.has_asked()) touch(*job.environment);
  }
  // Marks the job's children; advance() then decides whether they continue without it.
  void look_at_children(const JobId& parent) const {
    for (const std::uint64_t order : core.state.children(parent))
      core.pending.dirty_jobs.insert(core.state.submitted().at(order));
  }
  void touch_last_attempt(const Job& job) const {
    if (!job.attempts.empty()) core.pending.touch(job.attempts.back());
  }
  void touch(const EnvironmentId& id) const { core.pending.touched_environments.insert(id); }
};

}  // namespace

void follow(Context& core, const Fact& fact) { std::visit(Effects{core}, fact); }

}  // namespace lockstep::launcher
