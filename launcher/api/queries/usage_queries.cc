#include "launcher/api/queries/usage_queries.h"

#include <algorithm>
#include <set>
#include <utility>

#include "launcher/state/state.h"

namespace lockstep::launcher {
namespace {

const Attempt* running_attempt(const Job& job) {
  return job.is_placed() ? job.last_attempt() : nullptr;
}

void add_gpus(const MeasuredNode& node, const std::vector<int>& held, UsageNow* use) {
  std::vector<GpuUse> own;
  for (const GpuUse& gpu : node.use.gpus)
    if (std::find(held.begin(), held.end(), gpu.index) != held.end()) own.push_back(gpu);
  if (own.empty()) return;
  use->gpu_percent = mean_busy(own);
  for (const GpuUse& gpu : own) use->gpu_memory.count += gpu.memory.count;
}

PartUsage usage_of_part(const Measurements& measurements, const State& state, const Job& job,
                        const Attempt& attempt, int node_rank, bool with_use) {
  const Part& part = attempt.parts[static_cast<std::size_t>(node_rank)];
  PartUsage usage;
  usage.node_name = state.node_name(part.node);
  usage.node_rank = node_rank;
  usage.ranks = job.spec.ranks_on(node_rank);
  usage.cpus = static_cast<int>(part.allotment.cpus.size());
  usage.memory = part.allotment.memory;
  usage.gpus = static_cast<int>(part.allotment.gpus.size());
  if (!with_use || part.ended()) return usage;
  const auto measured = measurements.of_part(part.node, attempt.id);
  if (!measured) return usage;
  UsageNow& use = usage.use.emplace();
  use.sum = sum_of(measured->ranks);
  use.age = measured->age;
  use.stale = measured->stale;
  if (part.allotment.gpus.empty()) return usage;
  if (const auto node = measurements.of_node(part.node, false))
    add_gpus(*node, part.allotment.gpus, &use);
  return usage;
}

JobUsage usage_of_job(const Measurements& measurements, const State& state, const Viewer& viewer,
                      const Job& job) {
  JobUsage usage{job.id, job.spec.submitter, job.status(), 0, {}};
  const bool reads = viewer.reads(job);
  if (const Attempt* attempt = running_attempt(job)) {
    usage.attempt = attempt->id.number;
    for (int rank = 0; rank < attempt->size(); ++rank)
      usage.parts.push_back(usage_of_part(measurements, state, job, *attempt, rank, reads));
  }
  if (reads) usage.silent = silence_of(measurements, job);
  return usage;
}

NodeUsage usage_of_node(const Measurements& measurements, const Core& core, const Node& node) {
  NodeUsage usage;
  usage.id = node.id;
  usage.name = node.name;
  usage.liveness = core.liveness(node.id);
  usage.draining = node.drain || node.notice;
  usage.cpus = static_cast<int>(node.inventory.cpus.size());
  usage.memory = node.inventory.memory;
  for (const GpuDevice& gpu : node.inventory.gpus) usage.gpus.push_back(gpu.memory);
  usage.jobs = static_cast<int>(node.parts.size());
  usage.use = measurements.of_node(node.id, false);
  return usage;
}

}  // namespace

Duration silence_of(const Measurements& measurements, const Job& job) {
  const Attempt* attempt = running_attempt(job);
  if (measurements.silent_after() == Duration::zero() || attempt == nullptr ||
      job.status() != JobStatus::running)
    return Duration::zero();
  Duration silent = Duration::max();
  for (const Part& part : attempt->parts) {
    if (part.ended()) continue;
    const auto measured = measurements.of_part(part.node, attempt->id);
    if (!measured || measured->stale) return Duration::zero();
    silent = std::min(silent, measured->quiet);
  }
  return silent == Duration::max() || silent < measurements.silent_after() ? Duration::zero()
                                                                           : silent;
}

void add_use(const Measurements& measurements, const Viewer& viewer, const State& state, bool parts,
             JobView* view) {
  const Job* job = state.job(JobId(view->spec.name));
  if (job == nullptr || !viewer.reads(*job)) return;
  view->silent = silence_of(measurements, *job);
  const Attempt* attempt = running_attempt(*job);
  if (!parts || attempt == nullptr || view->attempts.empty()) return;
  for (PartView& part : view->attempts.back().parts)
    if (part.state != PartState::finished) part.use = measurements.of_part(part.node, attempt->id);
}

void add_use(const Measurements& measurements, const Viewer& viewer, const State& state,
             const Query& question, ClientReply* reply) {
  const bool history = std::holds_alternative<ShowNode>(question);
  if (auto* nodes = std::get_if<NodesReply>(reply))
    for (NodeView& node : nodes->nodes) node.use = measurements.of_node(node.id, history);
  if (auto* one = std::get_if<JobReply>(reply))
    add_use(measurements, viewer, state, true, &one->job);
  if (auto* all = std::get_if<JobsReply>(reply))
    for (JobView& job : all->jobs) add_use(measurements, viewer, state, false, &job);
}

UsageReply usage_of(const Measurements& measurements, const Core& core, const Viewer& viewer,
                    const GetUsage& question) {
  const State& state = core.state();
  UsageReply reply;
  std::set<JobId> placed;
  for (const auto& [id, node] : state.nodes()) {
    if (question.nodes) reply.nodes.push_back(usage_of_node(measurements, core, node));
    for (const auto& [attempt, rank] : node.parts) placed.insert(attempt.job);
  }
  if (!question.jobs) return reply;
  std::size_t parts = 0;
  for (const JobId& id : placed) {
    const Job* job = state.job(id);
    if (job == nullptr || running_attempt(*job) == nullptr || !viewer.sees(*job)) continue;
    parts += job->last_attempt()->parts.size();
    if (parts > kMaxUsageParts)
      ++reply.more;
    else
      reply.jobs.push_back(usage_of_job(measurements, state, viewer, *job));
  }
  return reply;
}

}  // namespace lockstep::launcher
