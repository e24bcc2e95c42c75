#include "launcher/core/reactor.h"

#include <algorithm>
#include <utility>

#include "common/domain/why/nodes/losses.h"
#include "launcher/core/access/users.h"
#include "launcher/core/attempts/environment_locks.h"
#include "launcher/core/attempts/fences.h"
#include "launcher/core/attempts/merging.h"
#include "launcher/core/attempts/retry.h"
#include "launcher/core/attempts/writing.h"
#include "launcher/core/jobs/metadata.h"
#include "launcher/core/jobs/requests.h"
#include "launcher/core/jobs/retention.h"
#include "launcher/core/machines/changes.h"
#include "launcher/core/machines/instances.h"
#include "launcher/core/machines/provider_reports.h"
#include "launcher/core/machines/rules.h"
#include "launcher/core/names/asset_requests.h"
#include "launcher/core/names/environment_requests.h"
#include "launcher/core/names/name_requests.h"
#include "launcher/core/nodes/agents.h"
#include "launcher/core/nodes/health.h"
#include "launcher/core/nodes/nodes.h"
#include "launcher/core/nodes/size_check.h"
#include "launcher/core/progress.h"
#include "launcher/core/queue/scheduler.h"
#include "launcher/core/shutdown.h"
#include "launcher/core/targets/compute_requests.h"
#include "launcher/core/targets/size_requests.h"

namespace lockstep::launcher {

namespace {

void react(Context&, const TickInput&) {}

// ---- what follows -------------------------------------------------------------------------------

void record_wait(Context& core, const Job& job) {
  Why why = core.scheduler.why(job);
  const auto* notes = core.notes.of(owner_of_notes(job));
  const bool said = notes != nullptr && notes->back().event.kind == Event::Kind::waits &&
                    notes->back().event.why == why && notes->back().behind == job.events.count();
  if (!said) core.record(job.id, {core.now, Event::Kind::waits, 0, {}, std::move(why)});
}

void schedule(Context& core) {
  Scheduler::Moves moves;
  moves.place = [&core](const Job& job, Placed placed) {
    const AttemptId id{job.id, static_cast<std::uint32_t>(job.attempts.size() + 1),
                       std::max(job.incarnation, core.state.incarnation())};
    auto virtual_packages = virtual_packages_of(core.state, job, placed.parts);
    core.emit(AttemptPlaced{id, std::move(placed.parts), std::move(placed.why),
                            newest_checkpoint(job), std::move(virtual_packages)});
  };
  moves.at_head = [&core](const Job& job) { core.emit(JobAtHead{job.id}); };
  moves.waits = [&core](const Job& job) {
    core.pending.job_changed(job.id);
    demand_changed(core, job);  // a quota may have held it back until now
    record_wait(core, job);
  };
  core.scheduler.run(core.cluster(), moves);
}

// Runs the scheduler and sends messages, once for all changes: a pass over the queue costs as much
// for one ended job as for many.
void settle(Context& core, bool more) {
  while (!core.pending.dirty_jobs.empty() || !core.pending.dirty_targets.empty() ||
         (!more && core.scheduler.dirty())) {
    while (!core.pending.dirty_targets.empty()) {
      const std::string target = *core.pending.dirty_targets.begin();
      core.pending.dirty_targets.erase(core.pending.dirty_targets.begin());
      advance_machines(core, target);
    }
    while (!core.pending.dirty_jobs.empty()) {
      const JobId job = *core.pending.dirty_jobs.begin();
      core.pending.dirty_jobs.erase(core.pending.dirty_jobs.begin());
      advance(core, job);
    }
    if (!more) schedule(core);
  }
}

// Marks all jobs with the definition, because another node may be the solver now.
void touch_environment(Pending& pending, const State& state, const EnvironmentId& id) {
  const Environment* environment = state.environment(id);
  if (environment == nullptr) return;
  for (const std::uint64_t order : environment->live) {
    const Job& job = *state.job(state.submitted().at(order));
    if (job.is_placed()) pending.touch(job.attempts.back());
  }
}

void send_messages(Context& core) {
  for (const EnvironmentId& id : std::exchange(core.pending.touched_environments, {}))
    touch_environment(core.pending, core.state, id);
  for (NodeId id : std::exchange(core.pending.touched_nodes, {})) {
    const Node* node = core.state.node(id);
    if (node == nullptr) continue;  // the node was removed
    NodeWatch& watch = core.watches.at(id);
    if (!watch.live || watch.sent_revision == node->revision) continue;
    watch.sent_revision = node->revision;
    core.act(SendDesired{id});
  }
  for (const JobId& job : std::exchange(core.pending.changed_jobs, {})) core.act(JobChanged{job});
}

void fire(Context& core, const TimerKey& timer) {
  switch (timer.kind) {
    case TimerKey::Kind::node: node_silent(core, timer.node); break;
    case TimerKey::Kind::prepare: prepare_timed_out(core, timer.attempt); break;
    case TimerKey::Kind::logs: logs_timed_out(core, timer.attempt, timer.node); break;
    case TimerKey::Kind::shutdown: give_up_shutdown(core); break;
    case TimerKey::Kind::machines: core.pending.dirty_targets.insert(timer.target); break;
    case TimerKey::Kind::merge: merge_again(core, timer.attempt.job); break;
    case TimerKey::Kind::write: core.pending.dirty_jobs.insert(timer.attempt.job); break;
    case TimerKey::Kind::retry: enqueue(core, *core.state.job(timer.attempt.job)); break;
  }
}

// ---- after a start -----------------------------------------------------------------------------

// Fences parts that were placed shortly before the backup was taken and that no node had reported
// by then. They may have run and ended since, so they must not run again under the same name.
void fence_unknown_to_nodes(Context& core) {
  const auto restored = core.state.restored_at();
  if (!restored) return;
  for (const JobId& id : std::set<JobId>(core.state.unfinished())) {
    const Attempt* attempt = core.state.job(id)->last_attempt();
    if (attempt == nullptr || attempt->ended || attempt->placed > *restored) continue;
    for (const Part& part : attempt->parts)
      if (part.assigned() && !part.report)
        core.emit(PartGone{attempt->id, part.node, Cause::node_lost, PlacedBeforeBackup{}});
  }
}

// The journal may end between two facts of one step. The rules supply most of the missing facts,
// because every job is marked now. That a lost node's parts are fenced is not covered by a rule, so
// it is done here.
void finish_cut_step(Context& core) {
  for (const auto& [id, node] : core.state.nodes())
    if (node.lost) fence(core, id, *node.lost);
  fence_unknown_to_nodes(core);
  delete_left_steps(core);
  // Each unfinished job is looked at before a request of this step can delete a job.
  for (const JobId& id : std::set<JobId>(core.state.unfinished()))
    if (!core.state.job(id)->waiting().waits_for.empty()) advance(core, id);
}

}  // namespace

Step handle(Context& core, Instant now, const Input& input, bool more) {
  core.clock.advance(now);
  core.now = core.clock.last();
  core.step = Step{};
  if (std::exchange(core.recovering, false)) finish_cut_step(core);
  std::visit([&core](const auto& body) { react(core, body); }, input);
  while (auto timer = core.timers.pop_due(core.clock.polled())) fire(core, *timer);
  while (auto timer = core.retries.pop_due(core.now)) fire(core, *timer);
  core.scheduler.wake(core.now);
  settle(core, more);
  retain(core);
  continue_shutdown(core);
  if (!more) send_messages(core);
  return std::exchange(core.step, Step{});
}

void recovered(Context& core, Instant now) {
  core.clock.advance(now);
  core.now = core.clock.last();
  if (!core.state.nodes().empty())
    core.grace_until = core.clock.polled() + core.config.reconnect_grace;
  for (const auto& [id, node] : core.state.nodes()) {
    NodeWatch& watch = core.watches.at(id);
    watch.heard = core.clock.polled();
    watch.liveness = node.lost ? Liveness::lost : Liveness::unknown;
    if (!node.lost) arm_node_timer(core, id);
    check_size_of_node(core, id);
  }
  if (!core.state.nodes().empty()) core.recovered_at = core.now;
  for (const auto& [order, job] : core.state.queue()) enqueue(core, *core.state.job(job));
  core.recovering = core.retention.is_due = true;
  core.pending.dirty_jobs = core.state.unfinished();
  core.pending.dirty_jobs.insert(core.state.unwritten().begin(), core.state.unwritten().end());
  for (const auto& [name, compute] : core.state.computes().all())
    core.pending.dirty_targets.insert(name);
  for (const JobId& id : core.state.unfinished()) {
    const Attempt* attempt = core.state.job(id)->last_attempt();
    if (attempt == nullptr || attempt->ended) continue;
    core.timers.set({TimerKey::Kind::prepare, {}, attempt->id},
                    core.clock.polled() + core.config.time_to_prepare(core.state.job(id)->spec));
  }
}

std::vector<Action> resume(const State& state) {
  std::vector<Action> actions;
  for (const auto& [key, user] : state.principals().keys())
    actions.push_back(AllowUser{key, user, state.principals().user(user)->keys.at(key).from_file});
  for (const auto& [id, node] : state.removed_nodes()) actions.push_back(RevokeNode{node.key});
  for (const auto& [id, node] : state.nodes()) {
    actions.push_back(AllowNode{id, node.key});
    for (const auto& [attempt, rank] : node.parts) {
      const Attempt& whole = *state.attempt(attempt);
      const Part& part = whole.parts[static_cast<std::size_t>(rank)];
      if (whole.ended && part.exit() != nullptr)
        actions.push_back(AwaitLogs{attempt, id, part.exit()->logs});
    }
  }
  return actions;
}

Instant next_deadline(const Context& core) {
  if (core.recovering || core.retention.is_due || !core.pending.dirty_jobs.empty() ||
      !core.pending.dirty_targets.empty() || core.scheduler.dirty())
    return core.clock.last();
  const Instant due = core.timers.next();
  const Instant later =
      std::min({core.retries.next(), core.retention.at, core.scheduler.next_wake()});
  if (due == Instant::never()) return later;
  // These clocks count only polled time, so the core must be called at least once per interval.
  return std::min({core.clock.real(due), core.clock.next_poll(), later});
}

}  // namespace lockstep::launcher
