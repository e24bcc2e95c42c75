#include "launcher/core/attempts/environment_locks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include "common/base/version.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxSaidBefore = 3;  // nodes that one reason names

bool may_need_lock(const Part& part) {
  return part.assigned() && !part.ended() && !part.at_least(PartState::prepared);
}

// The order of solvers: parts that have not failed to solve come first.
bool is_before(const Environment& environment, const Part& part, const Part& other) {
  const bool failed = could_not_solve(environment, part);
  const bool other_failed = could_not_solve(environment, other);
  return failed != other_failed ? other_failed : part.lock_request->at < other.lock_request->at;
}

// The first part of the job's last attempt that asked and may solve; null: there is none.
const Part* first_asking(const Environment& environment, const Job& job,
                         const std::string& platform) {
  if (!job.is_placed() || job.cancel_by) return nullptr;
  const Attempt& attempt = job.attempts.back();
  if (attempt.doomed || attempt.ended) return nullptr;
  const Part* first = nullptr;
  for (const Part& part : attempt.parts) {
    if (!may_need_lock(part) || !part.asks_for(platform)) continue;
    if (could_not_solve(environment, part) && others_may_solve(environment, attempt, part))
      continue;
    if (first == nullptr || is_before(environment, part, *first)) first = &part;
  }
  return first;
}

struct VirtualPackage {
  std::string_view name;
  std::string Inventory::*version;
};
constexpr std::array<VirtualPackage, 2> kVirtualPackages{
    {{"__cuda", &Inventory::cuda}, {"__glibc", &Inventory::glibc}}};

bool has_nodes_elsewhere(const State& state) {
  const auto& nodes = state.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& entry) {
    return entry.second.inventory.host_id != nodes.begin()->second.inventory.host_id;
  });
}

// The lowest version of this virtual package on all nodes; "": one of the nodes has none.
std::string lowest_of(const State& state, const std::vector<PartPlacement>& parts,
                      std::string Inventory::*version) {
  std::string lowest;
  for (const PartPlacement& part : parts) {
    const std::string& here = state.node(part.node)->inventory.*version;
    const auto numbers = version_numbers(here);
    if (!numbers) return "";
    if (lowest.empty() || *numbers < *version_numbers(lowest)) lowest = here;
  }
  return lowest;
}

}  // namespace

std::optional<Solver> solver_of(const State& state, const EnvironmentId& id,
                                const std::string& platform) {
  const Environment* environment = state.environment(id);
  if (environment == nullptr || environment->locks.count(platform) != 0) return std::nullopt;
  std::optional<Solver> solver;
  const Part* first = nullptr;
  for (const std::uint64_t order : environment->live) {
    const Job& job = *state.job(state.submitted().at(order));
    const Part* part = first_asking(*environment, job, platform);
    if (part == nullptr || (first != nullptr && !is_before(*environment, *part, *first))) continue;
    first = part;
    const Attempt& attempt = job.attempts.back();
    solver = Solver{attempt.id, static_cast<int>(part - attempt.parts.data())};
  }
  return solver;
}

bool could_not_solve(const Environment& environment, const Part& part) {
  const auto& request = part.lock_request;
  return request && request->not_solved &&
         request->not_solved->generation == environment.generation;
}

bool others_may_solve(const Environment& environment, const Attempt& attempt, const Part& part) {
  return std::any_of(attempt.parts.begin(), attempt.parts.end(), [&](const Part& other) {
    if (&other == &part || !may_need_lock(other)) return false;
    return !other.lock_request ||
           (other.asks_for(part.lock_request->platform) && !could_not_solve(environment, other));
  });
}

void add_said_before(const State& state, const Attempt& attempt, const Part& part,
                     NodeFailed& failed) {
  const Job& job = *state.job(attempt.id.job);
  if (!job.environment || !part.lock_request) return;
  const Environment& environment = *state.environment(*job.environment);
  const std::string& platform = part.lock_request->platform;
  if (environment.locks.count(platform) != 0) return;
  for (const Part& other : attempt.parts) {
    if (&other == &part || !other.asks_for(platform) || !could_not_solve(environment, other))
      continue;
    if (failed.before.size() < kMaxSaidBefore)
      failed.before.push_back({state.node_name(other.node), other.lock_request->not_solved->why});
    else
      ++failed.more_before;
  }
}

std::vector<std::string> virtual_packages_of(const State& state, const Job& job,
                                             const std::vector<PartPlacement>& parts) {
  const auto& environment = job.spec.environment;
  if (!environment) return {};
  const auto* docker = std::get_if<DockerEnvironment>(&environment->definition);
  const bool is_conda = std::holds_alternative<CondaEnvironment>(environment->definition);
  if (!is_conda && (docker == nullptr || !docker->conda)) return {};
  std::vector<std::string> all;
  for (const auto& [name, version] : kVirtualPackages)
    // Ranks in a container use the C library of their image, not the node's.
    if (docker == nullptr || version != &Inventory::glibc)
      if (const std::string lowest = lowest_of(state, parts, version); !lowest.empty())
        all.push_back(fmt::format("{}={}", name, lowest));
  return all;
}

EnvironmentPlan plan_of(const State& state, const Job& job, const Attempt& attempt, int node_rank) {
  EnvironmentPlan plan;
  if (!job.environment) return plan;
  const Environment& environment = *state.environment(*job.environment);
  plan.generation = environment.generation;
  plan.virtual_packages = attempt.virtual_packages;
  for (const auto& [platform, lock] : environment.locks)
    plan.locks.push_back({platform, lock.tree});
  plan.share = has_nodes_elsewhere(state);
  const Part& part = attempt.parts[static_cast<std::size_t>(node_rank)];
  plan.solve =
      part.lock_request && solver_of(state, *job.environment, part.lock_request->platform) ==
                               Solver{attempt.id, node_rank};
  plan.others_may_solve = plan.solve && others_may_solve(environment, attempt, part);
  return plan;
}

}  // namespace lockstep::launcher
