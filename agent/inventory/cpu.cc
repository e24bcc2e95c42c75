#include "agent/inventory/cpu.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "agent/inventory/cgroup_path.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

constexpr int kMostCpus = 16'384;

std::vector<int> affinity() {
  std::vector<int> cpus;
  cpu_set_t* set = CPU_ALLOC(kMostCpus);
  const std::size_t size = CPU_ALLOC_SIZE(kMostCpus);
  CPU_ZERO_S(size, set);
  if (::sched_getaffinity(0, size, set) == 0) {
    for (int cpu = 0; cpu < kMostCpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set)) cpus.push_back(cpu);
    }
  }
  CPU_FREE(set);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

int count_sockets(const std::vector<int>& cpus, const std::string& sys) {
  std::set<std::string> packages;
  for (const int cpu : cpus) {
    const auto id = io::read_file(
        fmt::format("{}/devices/system/cpu/cpu{}/topology/physical_package_id", sys, cpu));
    if (id) packages.insert(*id);
  }
  return std::max<int>(1, static_cast<int>(packages.size()));
}

int count_numa_nodes(const std::vector<int>& cpus, const std::string& sys) {
  const std::string root = sys + "/devices/system/node";
  const auto names = io::list_directory(root);
  if (!names) return 1;
  int count = 0;
  for (const std::string& name : *names) {
    if (name.substr(0, 4) != "node") continue;
    auto list = io::read_file(root + "/" + name + "/cpulist");
    if (!list) continue;
    list->erase(list->find_last_not_of(" \n") + 1);
    const auto members = parse_list(*list);
    if (!members) continue;
    const std::set<int> here(members->begin(), members->end());
    if (std::any_of(cpus.begin(), cpus.end(), [&](int cpu) { return here.count(cpu) > 0; }))
      ++count;
  }
  return std::max(1, count);
}

Error bad_list(const std::string& text) {
  return make_error(ErrorCode::invalid_argument,
                    "\"" + text + "\" is neither a count (4) nor a list (0-3,8)");
}

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value >= kMostCpus) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

Result<std::vector<int>> parse_list(const std::string& text) {
  std::set<int> members;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item(text.data() + at, comma - at);
    const std::size_t dash = item.find('-');
    const auto first = parse_number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(item.substr(dash + 1));
    if (!first || !last || *last < *first) return bad_list(text);
    for (int id = *first; id <= *last; ++id) members.insert(id);
    at = comma + 1;
  }
  return std::vector<int>(members.begin(), members.end());
}

Result<std::vector<int>> select(const std::vector<int>& available, const std::string& share,
                                const std::string& what) {
  if (share.empty()) return available;
  if (const auto count = parse_number(share)) {
    if (static_cast<std::size_t>(*count) > available.size()) {
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("{} {} are requested, but this machine offers {}", *count, what,
                                    available.size()));
    }
    return std::vector<int>(available.begin(), available.begin() + *count);
  }
  if (const auto slash = share.find('/'); slash != std::string::npos) {
    const auto part = parse_number(share.substr(0, slash));
    const auto of = parse_number(share.substr(slash + 1));
    if (!part || !of || *part >= *of) {
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("'{}' is not a share of the {}: write I/N with I from 0 to N-1",
                                    share, what));
    }
    const auto size = static_cast<int>(available.size());
    return std::vector<int>(available.begin() + *part * size / *of,
                            available.begin() + (*part + 1) * size / *of);
  }
  TRY_ASSIGN(const std::vector<int> wanted, parse_list(share));
  for (const int id : wanted) {
    if (!std::binary_search(available.begin(), available.end(), id)) {
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("{1} '{2}': number {0} is not available to this process", id, what, share));
    }
  }
  return wanted;
}

int cpu_quota(const std::string& root) {
  double limit = 0;
  for (const std::string& file : cgroup_files(root, "cpu", "cpu.max", "cpu.cfs_quota_us")) {
    const auto text = io::read_file(file);
    if (!text) continue;
    double quota = -1, period = 100'000;
    if (std::sscanf(text->c_str(), "%lf %lf", &quota, &period) < 1) continue;  // "max 100000"
    const std::string directory = file.substr(0, file.rfind('/'));
    const auto v1_period = io::read_file(directory + "/cpu.cfs_period_us");
    if (v1_period) std::sscanf(v1_period->c_str(), "%lf", &period);
    if (quota <= 0 || period <= 0) continue;
    limit = limit == 0 ? quota / period : std::min(limit, quota / period);
  }
  return static_cast<int>(std::ceil(limit));
}

CpuProbe probe_cpus(const std::string& sys) {
  CpuProbe probe;
  probe.affinity = affinity();
  probe.cpus = probe.affinity;
  const int quota = cpu_quota();
  if (quota > 0 && static_cast<std::size_t>(quota) < probe.cpus.size()) {
    probe.limitation =
        fmt::format("the agent's cgroup may use {} of {} cpus", quota, probe.cpus.size());
    probe.cpus.resize(static_cast<std::size_t>(quota));
  }
  probe.sockets = count_sockets(probe.cpus, sys);
  probe.numa_nodes = count_numa_nodes(probe.cpus, sys);
  return probe;
}

}  // namespace lockstep::agent
