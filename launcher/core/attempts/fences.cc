#include "launcher/core/attempts/fences.h"

#include <algorithm>

#include "common/domain/why/nodes/losses.h"
#include "launcher/core/placement/placement.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

namespace {

// The rates of two clocks differ by at most one part in this number.
constexpr int kClockDrift = 100;

}  // namespace

void demand_changed(Context& core, const Job& job) {
  const Compute* compute = core.state.computes().find(job.pool);
  if (compute != nullptr && is_elastic(compute->spec)) core.pending.dirty_targets.insert(job.pool);
}

void enqueue(Context& core, const Job& job) {
  demand_changed(core, job);
  const Instant due = ready_at(core.cluster(), job);
  const TimerKey timer{TimerKey::Kind::retry, {}, {job.id, 0}};
  core.retries.clear(timer);
  core.pending.job_changed(job.id);
  if (!job.waiting().waits_for.empty()) return;
  if (due <= core.now)
    core.scheduler.add(job);
  else
    core.retries.set(timer, due);
}

void dequeue(Scheduler& scheduler, Timers& retries, const Job& job) {
  retries.clear({TimerKey::Kind::retry, {}, {job.id, 0}});
  scheduler.remove(job);
}

// The time by which the part's ranks have certainly ended. For a part that is given up now without
// proof of their end; ns = 0: no rank runs, or the job does not wait.
Instant fence_of(const Cluster& cluster, const Attempt& attempt, const Part& part) {
  if (cluster.state.job(attempt.id.job)->spec.retry.on_lost != OnLost::after_fence) return {};
  // Without one of these, no rank was ever told to start.
  const bool may_run = attempt.solo() || attempt.gang;
  if (!may_run || part.finished()) return {};
  const NodeWatch* watch = cluster.watches.find(part.node);
  // An earlier launcher may have heard the node, but only before this one began, so the later of
  // the two times is safe.
  const Instant heard =
      std::max(watch == nullptr ? cluster.now : watch->last_heard, cluster.recovered_at);
  return heard + cluster.config.fence_lease + cluster.config.fence_lease / kClockDrift +
         cluster.config.fence_margin;
}

void lift_fence(Context& core, const AttemptId& id, NodeId node, const Why& why) {
  const auto there = core.state.fenced().find(node);
  if (there != core.state.fenced().end() && there->second.count(id) != 0)
    core.emit(FenceLifted{id, node, why});
}

// Ends the fences of parts that a full report lacks, since they have stopped. A late copy of a
// report proves this only of parts that the agent knew when it wrote the report.
void lift_fences(Context& core, NodeId node, const SessionOpen& open, bool is_late) {
  const auto there = core.state.fenced().find(node);
  if (there == core.state.fenced().end()) return;
  const std::set<AttemptId> fenced = there->second;
  for (const AttemptId& id : fenced) {
    const auto listed =
        std::find_if(open.parts.begin(), open.parts.end(),
                     [&](const PartReport& report) { return report.attempt == id; });
    if (listed != open.parts.end()) {
      if (listed->state == PartState::finished) lift_fence(core, id, node, RunnerEnded{});
      continue;
    }
    const auto& parts = core.state.attempt(id)->parts;
    const auto part =
        std::find_if(parts.begin(), parts.end(), [&](const Part& one) { return one.node == node; });
    if (!is_late || open.desired_revision >= part->revision)
      lift_fence(core, id, node, RunnerNotReported{});
  }
}

}  // namespace lockstep::launcher
