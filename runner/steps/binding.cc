#include "runner/steps/binding.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "common/io/file_system.h"
#include "runner/steps/step.h"
#include "runner/steps/topology.h"

namespace lockstep::runner {
namespace {

int number_in(const std::string& path) {
  const auto text = io::read_file(path);
  return text ? std::atoi(text->c_str()) : 0;
}

bool allowed(int cpu, const cpu_set_t* set, std::size_t size) {
  return cpu >= 0 && CPU_ISSET_S(static_cast<unsigned>(cpu), size, set) != 0;
}

}  // namespace

std::vector<int> usable_cpus(const std::vector<int>& allotment, const std::string& topology) {
  constexpr int kMostCpus = 8192;
  cpu_set_t* set = CPU_ALLOC(kMostCpus);
  const std::size_t size = CPU_ALLOC_SIZE(kMostCpus);
  std::vector<std::tuple<int, int, int>> order;  // sort key: socket, core, cpu
  if (sched_getaffinity(0, size, set) == 0)
    for (const int cpu : allotment) {
      if (!allowed(cpu, set, size)) continue;
      const std::string base = topology + "/cpu" + std::to_string(cpu) + "/topology/";
      order.emplace_back(number_in(base + "physical_package_id"), number_in(base + "core_id"), cpu);
    }
  CPU_FREE(set);
  std::sort(order.begin(), order.end());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  std::vector<int> cpus;
  for (const auto& entry : order) cpus.push_back(std::get<2>(entry));
  return cpus;
}

std::vector<int> share_of(const std::vector<int>& cpus, int index, int ranks) {
  const int count = static_cast<int>(cpus.size());
  if (ranks > count) return {};
  return {cpus.begin() + index * count / ranks, cpus.begin() + (index + 1) * count / ranks};
}

namespace {

// Spreads ranks evenly over the groups. If there are more ranks than groups, neighbours share one.
std::vector<std::vector<int>> spread(const std::vector<std::vector<int>>& groups, int ranks) {
  std::vector<std::vector<int>> bound;
  for (int rank = 0; rank < ranks; ++rank)
    bound.push_back(
        groups[static_cast<std::size_t>(rank) * groups.size() / static_cast<std::size_t>(ranks)]);
  return bound;
}

std::vector<std::vector<int>> shares(const std::vector<int>& cpus, int ranks) {
  std::vector<std::vector<int>> bound;
  for (int rank = 0; rank < ranks; ++rank) bound.push_back(share_of(cpus, rank, ranks));
  return bound;
}

}  // namespace

Result<std::vector<std::vector<int>>> bind_ranks(Binding binding, const std::vector<int>& cpus,
                                                 int ranks, const std::string& machine) {
  const auto count = static_cast<std::size_t>(std::max(ranks, 0));
  const std::vector<std::vector<int>> all(count, cpus);
  if (binding == Binding::none) return all;
  if (binding == Binding::automatic) return count > cpus.size() ? all : shares(cpus, ranks);
  TRY_ASSIGN(const Topology topology, Topology::load(machine));
  const auto groups = topology.group(
      cpus, binding == Binding::core ? Topology::Level::core : Topology::Level::numa_node);
  const bool too_few = groups.empty() || (binding == Binding::core && groups.size() < count);
  if (too_few) return count > cpus.size() ? all : shares(cpus, ranks);
  return spread(groups, ranks);
}

Status set_binding(const LaunchContext& context, RankLaunch& rank) {
  rank.process.cpus = context.cpus.at(static_cast<std::size_t>(rank.local_rank));
  return {};
}

}  // namespace lockstep::runner
