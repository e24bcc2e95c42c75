#include "launcher/core/jobs/target_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "common/domain/job/image_replacement.h"
#include "common/domain/job/pipeline.h"
#include "common/domain/why/jobs/vain.h"
#include "common/domain/why/nodes/placement.h"
#include "launcher/core/jobs/step_names.h"
#include "launcher/core/placement/in_vain.h"
#include "launcher/core/placement/new_machines.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/placement.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxNamedCandidates = 8;  // targets that one reason names

// The resources that a node has and the job does not ask for, the most expensive first.
struct Spare {
  std::int64_t gpus = 0, cpus = 0, memory = 0;
  friend auto operator<=>(const Spare&, const Spare&) = default;
};

struct Candidate {
  std::string target;
  bool is_free = false;  // some of its nodes could run the job now
  // the price of one node for an hour; a target without a price counts as free of charge
  double price = 0;
  Spare spare;
  TargetIs is = TargetIs::free;

  auto rank() const { return std::make_tuple(!is_free, target == kLocalCompute, price, spare); }
  TargetThatFits described() const { return {target, is, price}; }
};

Spare spare_of(std::int64_t gpus, std::int64_t cpus, Bytes memory, const Shape& shape) {
  return {gpus - shape.gpus.value_or(shape.gpus_at_least), cpus - shape.cpus.value_or(0),
          static_cast<std::int64_t>(memory.count) -
              static_cast<std::int64_t>(shape.memory.value_or(Bytes{}).count)};
}
Spare spare_of(const Inventory& has, const Shape& shape) {
  return spare_of(std::ssize(has.gpus), std::ssize(has.cpus), has.memory, shape);
}

const Node* first_that_fits(const Cluster& cluster, const std::string& pool, const Shape& shape) {
  for (const Node& node : cluster.state.nodes_of(pool))
    if (!never_fits(cluster, node, shape)) return &node;
  return nullptr;
}

// How well the target suits the job; nullopt: it could never run the job. `trial` is a copy of the
// job, with any pool.
std::optional<Candidate> candidate(const Cluster& cluster, const std::string& target, Job& trial) {
  trial.pool = target;
  const Shape shape = shape_of(trial.spec);
  const Size* size = size_of_target(cluster, target);
  Candidate result;
  result.target = target;
  if (size != nullptr) result.price = size->price_per_hour.value_or(0);
  const Placement placement = place(cluster, trial);
  if (const auto* placed = std::get_if<Placed>(&placement)) {
    result.is_free = true;
    result.spare = spare_of(cluster.state.node(placed->parts.front().node)->inventory, shape);
    return result;
  }
  if (std::holds_alternative<Impossible>(placement)) return std::nullopt;
  const Node* node = first_that_fits(cluster, target, shape);
  result.is = node == nullptr ? TargetIs::not_made : TargetIs::busy;
  if (node != nullptr)
    result.spare = spare_of(node->inventory, shape);
  else if (size != nullptr)
    result.spare = spare_of(size->gpus, size->vcpus, size->memory, shape);
  return result;
}

// The targets to choose from: those with nodes of their own that are not being deleted. If the job
// names a size, only targets of that size.
std::vector<std::string> targets_for(const Cluster& cluster, const std::string& instance_type) {
  std::vector<std::string> all, of_size;
  for (const auto& [name, compute] : cluster.state.computes().all()) {
    if (compute.leaving || is_off(compute) || cluster.state.computes().pool_of(name) != name)
      continue;
    all.push_back(name);
    if (!instance_type.empty() && size_key(compute.spec.size) == size_key(instance_type))
      of_size.push_back(name);
  }
  if (!of_size.empty()) return of_size;
  if (!all.empty()) all.emplace_back(kLocalCompute);
  return all;
}

}  // namespace

std::optional<TargetChoice> choose_target(const Cluster& cluster, const JobSpec& spec) {
  if (!spec.compute.empty()) return std::nullopt;
  Job trial;
  trial.spec = spec;
  std::vector<Candidate> candidates;
  for (const std::string& target : targets_for(cluster, spec.resources.instance_type))
    if (auto one = candidate(cluster, target, trial)) candidates.push_back(*std::move(one));
  if (candidates.empty()) return std::nullopt;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.rank() < b.rank(); });
  const Candidate& best = candidates.front();
  TargetWasChosen why{best.described(), {}};
  for (std::size_t i = 1; i < candidates.size() && i <= kMaxNamedCandidates; ++i)
    why.others.push_back(candidates[i].described());
  return TargetChoice{best.target, std::move(why)};
}

namespace {

std::optional<JobWaitsInVain> waits_in_vain(const Cluster& cluster, const JobSpec& spec) {
  const Shape shape = shape_of(spec);
  Why vain = in_vain(cluster, cluster.state.computes().pool_of(target_of(spec)), shape);
  if (!vain) return std::nullopt;
  return JobWaitsInVain{asked_for(shape), std::move(vain), "", ""};
}

// Why the pipeline's first unsatisfiable step would wait for ever once it begins. Steps with equal
// requests are checked once.
Why first_step_in_vain(const Cluster& cluster, const JobSpec& spec) {
  std::set<std::pair<std::string, Shape>> seen;
  for (const PipelineStep& step : spec.pipeline->steps) {
    JobSpec one = step.spec;
    one.run_as = spec.run_as;
    if (auto choice = choose_target(cluster, one)) one.compute = std::move(choice->target);
    if (!seen.emplace(target_of(one), shape_of(one)).second) continue;
    if (auto vain = waits_in_vain(cluster, one)) {
      (spec.pipeline->array.empty() ? vain->step : vain->task) = step.name;
      return *std::move(vain);
    }
  }
  return {};
}

Why why_in_vain(const Cluster& cluster, const JobSpec& spec) {
  if (spec.is_pipeline()) return first_step_in_vain(cluster, spec);
  auto vain = waits_in_vain(cluster, spec);
  return vain ? Why(*std::move(vain)) : Why();
}

// Adds notes that are text already.
void add_lines(std::vector<Why>* notes, std::vector<std::string> lines) {
  for (std::string& line : lines) notes->push_back(told(std::move(line)));
}

}  // namespace

std::vector<Why> submission_notes(const Cluster& cluster, const JobSpec& spec) {
  std::vector<Why> notes;
  add_lines(&notes, image_replacement_lines(spec));
  if (spec.compute_why) notes.push_back(spec.compute_why);
  if (Why vain = why_in_vain(cluster, spec)) notes.push_back(std::move(vain));
  add_lines(&notes, jobs_of_others(cluster.state, spec));
  add_lines(&notes, renamed_steps(cluster, spec));
  const std::string& type = spec.resources.instance_type;
  if (type.empty()) return notes;
  const std::string target = target_of(spec);
  const Compute* compute = cluster.state.computes().find(target);
  const std::string size = compute == nullptr ? "" : compute->spec.size;
  if (size.empty() || size_key(size) != size_key(type))
    notes.push_back(InstanceTypeNotUsed{type, target, size});
  return notes;
}

namespace {

// True if `name` is a host of the ssh target that has not become a machine yet.
bool is_host_to_come(const Cluster& cluster, const std::string& target, const std::string& name) {
  const Compute* compute = cluster.state.computes().find(target);
  if (compute == nullptr || cluster.state.node_called(name) != nullptr) return false;
  const auto& hosts = compute->spec.hosts;
  return std::any_of(hosts.begin(), hosts.end(),
                     [&](const SshHost& host) { return host.name == name; });
}

}  // namespace

std::optional<Refusal> refused_by_target(const Cluster& cluster, const JobSpec& spec) {
  const std::string target = target_of(spec);
  const std::string pool = cluster.state.computes().pool_of(target);
  for (const std::string& name : spec.resources.nodes) {
    const Node* node = cluster.state.node_called(name);
    if (node != nullptr && node->name == name && node->pool == pool) continue;
    if (is_host_to_come(cluster, pool, name)) continue;
    if (node == nullptr || node->name != name)
      return Refusal{
          make_error(
              ErrorCode::not_found,
              fmt::format("lockstep.nodes: there is no node '{}'; `lockstep node list` shows all",
                          name)),
          "lockstep.nodes"};
    return Refusal{
        make_error(
            ErrorCode::invalid_argument,
            fmt::format("lockstep.nodes: node {} belongs to target '{}', but the job runs on "
                        "target '{}'; name the node's target with `compute: {}` or --compute {}",
                        name, node->pool, target, node->pool, node->pool)),
        "lockstep.nodes"};
  }
  const Size* size = size_of_target(cluster, pool);
  const int nodes = spec.resources.instance_count;
  const bool is_too_large = size != nullptr && size->max_mpi_nodes != 0 &&
                            nodes > size->max_mpi_nodes &&
                            spec.distribution.kind == Distribution::Kind::mpi;
  if (!is_too_large) return std::nullopt;
  return Refusal{
      make_error(
          ErrorCode::invalid_argument,
          fmt::format(
              "resources.instance_count: an MPI job on target '{}' has at most {} nodes, as on "
              "Azure (size {}), and this one has {}; an admin raises it with `max_mpi_nodes` "
              "in a size of this name (`lockstep size add -f FILE`)",
              target, size->max_mpi_nodes, size->name, nodes)),
      "resources.instance_count"};
}

}  // namespace lockstep::launcher
