#include "launcher/core/explain/state_views.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "common/base/cut.h"
#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/waits.h"
#include "common/domain/why/nodes/nodes.h"
#include "launcher/core/attempts/reports.h"
#include "launcher/core/explain/part_views.h"
#include "launcher/core/jobs/metadata.h"
#include "launcher/core/pipelines/pipelines.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/placement.h"
#include "launcher/core/queue/dependencies.h"

namespace lockstep::launcher {

namespace {

std::optional<CheckpointView> checkpoint_of(const Attempt& attempt) {
  if (!attempt.checkpoint) return std::nullopt;
  CheckpointView view;
  view.attempt = attempt.checkpoint->attempt;
  view.saved = attempt.checkpoint->saved;
  view.job = attempt.checkpoint->job;
  for (const Part& part : attempt.parts) {
    if (!part.report || !part.report->restored) continue;
    view.tree = part.report->restored->tree;
    view.files = part.report->restored->files;
    view.size = part.report->restored->size;
    break;
  }
  return view;
}

// The time at which the first rank started; ns = 0: none has started, or no report has the time.
Instant started_of(const Part& part) {
  if (!part.at_least(PartState::running)) return {};
  if (part.report->started.ns != 0 || !part.report->exit) return part.report->started;
  return part.report->exit->started;
}

// The newest findings of node rank 0. While the gang runs, the time since they began is counted
// until now.
FoundList found_in(const Cluster& cluster, const Attempt& attempt) {
  const Part& first = attempt.parts.front();
  if (first.ended()) return attempt.found;
  FoundList list = attempt.found;
  const NodeWatch* watch = cluster.watches.find(first.node);
  if (watch != nullptr)
    if (const auto live = watch->findings.find(attempt.id); live != watch->findings.end())
      list = live->second.found;
  for (Found& found : list)
    if (found.since.ns != 0 && cluster.now > found.since)
      found.lasting = std::max(found.lasting, Duration(cluster.now - found.since));
  return list;
}

// The result of the gang's network probe, which node rank 0 reports. If the gang did not connect,
// the node that failed reports it.
std::optional<ProbeResult> probe_in(const Attempt& attempt, ViewDetail detail) {
  const auto part = std::find_if(attempt.parts.begin(), attempt.parts.end(), [](const Part& each) {
    return each.report && each.report->probe;
  });
  if (part == attempt.parts.end()) return std::nullopt;
  const ProbeResult& probe = *part->report->probe;
  if (detail == ViewDetail::whole) return probe;
  return ProbeResult{{}, probe.failures, probe.cached, probe.broken};
}

AttemptView view_of_attempt(const Cluster& cluster, const Job& job, const Attempt& attempt,
                            ViewDetail detail) {
  AttemptView view;
  view.number = attempt.id.number;
  view.placed = attempt.placed;
  view.ended = attempt.ended_at;
  view.report = attempt.ended;
  view.why = attempt.retried;
  view.checkpoint = checkpoint_of(attempt);
  view.found = found_in(cluster, attempt);
  view.probe = probe_in(attempt, detail);
  for (int i = 0; i < attempt.size(); ++i) {
    const Part& part = attempt.parts[static_cast<std::size_t>(i)];
    view.parts.push_back(view_of_part(cluster, job, attempt, i, detail));
    const Instant started = started_of(part);
    if (started.ns == 0) continue;
    if (view.started.ns == 0 || started < view.started) view.started = started;
  }
  return view;
}

// The first part that satisfies `waits`; null: there is none.
template <typename Predicate>
std::optional<NodeStanding> first_node(const Cluster& cluster, const Attempt& attempt,
                                       Predicate waits) {
  for (const Part& part : attempt.parts)
    if (waits(part))
      return NodeStanding{cluster.state.node_name(part.node), cluster.watches.liveness(part.node)};
  return std::nullopt;
}

// The names of the first parts that have not `reached` their next state.
template <typename Predicate>
WaitsForParts progress_of_parts(const Cluster& cluster, const Job& job, const Attempt& attempt,
                                Predicate reached) {
  constexpr std::size_t kNamed = 3;
  WaitsForParts waits;
  for (int i = 0; i < attempt.size(); ++i) {
    if (reached(attempt.parts[static_cast<std::size_t>(i)])) continue;
    if (waits.parts.size() == kNamed) {
      ++waits.more;
      continue;
    }
    PartView view = view_of_part(cluster, job, attempt, i, ViewDetail::outline);
    waits.parts.push_back(
        {std::move(view.node_name), view.state, std::move(view.progress), std::move(view.why)});
  }
  return waits;
}

// The first part's text about output of its ranks that cannot be written or sent.
Why first_said(const Cluster& cluster, const Attempt& attempt) {
  for (const Part& part : attempt.parts) {
    const NodeWatch* watch = cluster.watches.find(part.node);
    if (watch == nullptr || part.ended()) continue;
    const auto newer = watch->progress.find(attempt.id);
    const std::string& said =
        newer != watch->progress.end() ? newer->second : part.report->progress;
    if (!said.empty()) return NodeSays{cluster.state.node_name(part.node), said};
  }
  return {};
}

Why why_placed(const Cluster& cluster, const Job& job, const Attempt& attempt) {
  const auto running = first_node(cluster, attempt, [](const Part& part) { return !part.ended(); });
  if (attempt.doomed) return WaitsForRanksToEnd{attempt.doomed->report.why, running};
  const bool collects = attempt.tally.over == attempt.size() && running;
  if (collects)
    return progress_of_parts(cluster, job, attempt, [](const Part& part) { return part.ended(); });
  if (job.cancel_by) return WaitsToStop{running};
  if (!running)
    return WaitsForVerdict{first_node(cluster, attempt, [&](const Part& part) {
      return cluster.watches.liveness(part.node) == Liveness::unknown;
    })};
  if (attempt.tally.running == attempt.size()) return first_said(cluster, attempt);
  return progress_of_parts(cluster, job, attempt, [&](const Part& part) {
    return part.at_least(attempt.gang ? PartState::running : PartState::prepared);
  });
}

// Why logs wait: the launcher refused them a moment ago because its disk is full.
Why why_logs_wait(const Cluster& cluster, const Attempt& attempt) {
  for (const Part& part : attempt.parts) {
    const NodeWatch* watch = part.assigned() ? cluster.watches.find(part.node) : nullptr;
    if (watch == nullptr) continue;
    const auto wait = watch->logs_wait.find(attempt.id);
    if (wait == watch->logs_wait.end() || wait->second.why.empty()) continue;
    if (cluster.now - wait->second.at <= kLogsWaitKnown) return told(wait->second.why);
  }
  return {};
}

Why why_logs_are_awaited(const Cluster& cluster, const Job& job) {
  for (const Attempt& attempt : job.attempts) {
    if (attempt.tally.assigned == 0) continue;
    const auto node =
        first_node(cluster, attempt, [](const Part& part) { return part.assigned(); });
    return WaitsForLogs{attempt.id, node.value_or(NodeStanding{}), why_logs_wait(cluster, attempt)};
  }
  return {};
}

WaitsToRetry why_retry_waits(const Cluster& cluster, const Job& job, Why after) {
  const Instant due = ready_at(cluster, job);
  WaitsToRetry waits{std::move(after), std::chrono::ceil<seconds>(due - cluster.now), due, ""};
  const Part* fence = longest_fence(cluster, job);
  if (fence != nullptr && due > job.waiting().not_before)
    waits.fenced_node = cluster.state.node_name(fence->node);
  return waits;
}

// Why a queued job waits for its turn. `after`: how its last attempt ended and which retry this is;
// none: it had no attempt.
Why why_turn_waits(const Cluster& cluster, const Scheduler& scheduler, const Job& job, Why after) {
  const Job::Waiting& waiting = job.waiting();
  if (!waiting.waits_for.empty()) return why_of_dependencies(job);
  if (job.attempts.empty() && waiting.not_before > cluster.now)
    return WaitsForTime{waiting.not_before};
  if (ready_at(cluster, job) > cluster.now) return why_retry_waits(cluster, job, std::move(after));
  Why why = scheduler.why(job);
  return after ? WaitsAgain{std::move(after), std::move(why)} : why;
}

// Why the job was queued again, without how its attempt ended: "retry 2 of 3".
Why retry_of(const Job& job) {
  if (!job.requeued_because()) return {};
  auto [why, of] = what_followed(job.requeued_because());
  return is_told(of, false) ? why : Why(WasRetried{});
}

// Why the job has not got beyond its phase; for a final job, how it ended.
struct WhyOfPhase {
  const Cluster& cluster;
  const Scheduler& scheduler;
  const Job& job;

  Why operator()(const Job::Waiting&) const {
    if (job.cancel_by) return why_logs_are_awaited(cluster, job);
    return why_turn_waits(cluster, scheduler, job, job.requeued_because());
  }
  Why operator()(const Job::RunsSteps&) const { return why_of_steps(cluster.state, job); }
  Why operator()(const Job::Placed&) const { return why_placed(cluster, job, job.attempts.back()); }
  Why operator()(const Job::Ending&) const {
    return job.logs_settled() ? Why(OutputsAreMerged{}) : why_logs_are_awaited(cluster, job);
  }
  Why operator()(const Job::Finish& finish) const {
    return finish.status == JobStatus::completed ? Why() : finish.report.why;
  }
};

}  // namespace

FollowedBy what_followed(const Why& retried) {
  if (const auto* known = retried.as<RetriedAfter>()) return {known->then, WordsOf::launcher};
  return {retried, WordsOf::job};
}

JobView view_of(const Cluster& cluster, const Scheduler& scheduler, const Job& job,
                int queue_position, ViewDetail detail) {
  JobView view;
  view.spec = job.spec;
  if (job.spec.is_child() && job.child_of.value.empty()) {  // its parent was deleted
    view.spec.parent = {};
    view.spec.parent_attempt = 0;
  }
  view.status = job.status();
  view.why = std::visit(WhyOfPhase{cluster, scheduler, job}, job.phase);
  if (job.is_queued())
    view.why_for_all =
        !job.requeued_because() ? view.why : why_turn_waits(cluster, scheduler, job, retry_of(job));
  view.in_vain = job.is_queued() && scheduler.waits_in_vain(job);
  view.queue_position = queue_position;
  view.submitted = job.submitted;
  view.shared = job.shared;
  view.archived = is_archived(cluster.state, job);
  if (job.is_waiting() && !job.attempts.empty() && ready_at(cluster, job) > cluster.now)
    view.retry_at = ready_at(cluster, job);
  for (const Attempt& attempt : job.attempts)
    view.attempts.push_back(view_of_attempt(cluster, job, attempt, detail));
  if (job.merged) view.merged = *job.merged;
  view.writes = job.writes;
  if (job.spec.pipeline) {
    PipelineSpec outline;
    outline.outputs = job.spec.pipeline->outputs;
    outline.continue_on_step_failure = job.spec.pipeline->continue_on_step_failure;
    outline.array = job.spec.pipeline->array;
    outline.at_most = job.spec.pipeline->at_most;
    view.spec.pipeline = std::move(outline);
  }
  if (const Job::Finish* finish = job.finish()) {
    view.ended = finish->at;
    view.report = finish->report;
  }
  return view;
}

namespace {

// The queue positions of a pool's jobs. All are counted when the first one is requested.
class Positions {
 public:
  explicit Positions(const Scheduler& scheduler) : scheduler_(scheduler) {}
  int of(const Job& job) {
    if (!job.is_waiting()) return 0;
    const auto [pool, fresh] = pools_.try_emplace(job.pool);
    if (fresh)
      scheduler_.visit(job.pool, [&positions = pool->second](const Job& other) {
        positions.emplace(other.order, static_cast<int>(positions.size()) + 1);
        return true;
      });
    const auto position = pool->second.find(job.order);
    return position == pool->second.end() ? 0 : position->second;
  }

 private:
  const Scheduler& scheduler_;
  std::map<std::string, std::map<std::uint64_t, int>> pools_;
};

}  // namespace

void each_job_view(const Cluster& cluster, const Scheduler& scheduler, const JobId& after,
                   const std::set<std::uint64_t>* among,
                   const std::function<bool(const Job&)>& wanted,
                   const std::function<bool(JobView)>& take) {
  const State& state = cluster.state;
  const Job* last = state.job(after);
  const std::uint64_t before = last ? last->order : std::numeric_limits<std::uint64_t>::max();
  Positions positions(scheduler);
  state.each_older(before, among, [&](const Job& job) {
    return !wanted(job) ||
           take(view_of(cluster, scheduler, job, positions.of(job), ViewDetail::outline));
  });
}

NodeView view_of(const Cluster& cluster, const Node& node) {
  NodeView view;
  view.id = node.id;
  view.name = node.name;
  view.liveness = cluster.watches.liveness(node.id);
  view.draining = node.drain || node.notice;
  view.waits_for_approval = node.waits_for_approval;
  view.why = why_unusable(cluster, node);
  view.inventory = node.inventory;
  for (const auto& [attempt, rank] : node.parts) view.attempts.push_back(attempt);
  view.joined = node.joined;
  view.compute = node.pool;
  view.labels = cluster.state.labels_of(node);
  view.agent_version = node.agent_version;
  const NodeWatch* watch = cluster.watches.find(node.id);
  if (watch == nullptr) return view;
  view.last_heard = watch->last_heard;
  view.clock_ahead = watch->clock_ahead;
  if (const auto measured = watch->clock.offset()) {
    view.clock_ahead = measured->ahead;
    view.clock_uncertainty = measured->uncertainty;
  }
  if (view.liveness != Liveness::alive && view.last_heard.ns != 0 && view.why)
    view.why = NodeSilent{view.why, std::chrono::floor<seconds>(cluster.now - view.last_heard)};
  if (!watch->live && !watch->refused.empty()) view.why = watch->refused.begin()->second;
  return view;
}

}  // namespace lockstep::launcher
