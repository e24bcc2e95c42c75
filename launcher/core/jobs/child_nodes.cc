#include "launcher/core/jobs/child_nodes.h"

#include <map>
#include <utility>
#include <vector>

#include "common/domain/why/nodes/machines.h"
#include "launcher/core/jobs/target_choice.h"
#include "launcher/core/placement/in_vain.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxNamedNodes = 4;  // nodes that one reason names

// The resources that the running jobs above this one hold on each node. `first`: the nearest of
// these jobs that holds a node.
struct Held {
  std::map<NodeId, Node::Use> uses;
  const Job* first = nullptr;
};

void add_parts(const Job& job, Held& held) {
  const Attempt* attempt = job.last_attempt();
  if (!job.is_placed() || attempt == nullptr || attempt->ended) return;
  for (const Part& part : attempt->parts) {
    if (part.ended()) continue;
    Node::Use& use = held.uses[part.node];
    ++use.parts;
    use.wholes += part.whole ? 1 : 0;
    use.isolated += job.spec.resources.isolated ? 1 : 0;
    use.cpus += static_cast<int>(part.allotment.cpus.size());
    use.gpus += static_cast<int>(part.allotment.gpus.size());
    use.memory.count += part.allotment.memory.count;
    if (held.first == nullptr) held.first = &job;
  }
}

Held held_above(const State& state, const JobSpec& child) {
  Held held;
  const Job* at = state.job(child.parent);
  for (int generation = 0; at != nullptr && generation < kMaxGenerations; ++generation) {
    add_parts(*at, held);
    at = at->child_of.value.empty() ? nullptr : state.job(at->child_of);
  }
  return held;
}

Why why_held(const Cluster& cluster, const Held& held, const JobSpec& child,
             const std::string& step = "") {
  const std::string pool = cluster.state.computes().pool_of(child.compute);
  if (may_grow(cluster, pool)) return {};
  const Shape shape = shape_of(child);
  int fitting = 0, with_room = 0;
  std::vector<std::string> names;
  for (const Node& node : cluster.state.nodes_of(pool)) {
    if (!could_take(cluster.state, node, shape)) continue;
    ++fitting;
    const auto use = held.uses.find(node.id);
    if (use == held.uses.end() || has_room(node, use->second, shape))
      ++with_room;
    else if (names.size() < kMaxNamedNodes)
      names.push_back(node.name);
  }
  if (fitting < shape.nodes || with_room >= shape.nodes) return {};
  return HeldByParent{step, asked_for(shape), held.first->id, pool, std::move(names)};
}

}  // namespace

Why held_by_parents(const Cluster& cluster, const JobSpec& child) {
  if (!child.is_child()) return {};
  const Held held = held_above(cluster.state, child);
  if (held.first == nullptr) return {};
  if (!child.is_pipeline()) return why_held(cluster, held, child);
  for (const PipelineStep& step : child.pipeline->steps) {
    JobSpec one = step.spec;
    one.run_as = child.run_as;
    if (auto choice = choose_target(cluster, one)) one.compute = std::move(choice->target);
    if (Why why = why_held(cluster, held, one, step.name)) return why;
  }
  return {};
}

}  // namespace lockstep::launcher
