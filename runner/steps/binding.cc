#include "runner/steps/binding.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "common/io/file_system.h"
#include "runner/steps/step.h"

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
  std::vector<std::tuple<int, int, int>> order;  // socket, core, cpu
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

Status set_binding(const LaunchContext& context, RankLaunch& rank) {
  rank.process.cpus =
      context.gang->oversubscribed
          ? context.cpus
          : share_of(context.cpus, rank.local_rank, context.gang->assignment.ranks_here());
  return {};
}

}  // namespace lockstep::runner
