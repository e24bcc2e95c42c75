#include "launcher/cli/local/division.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "common/base/check.h"
#include "common/io/file_system.h"

namespace lockstep::cli {

namespace {

int read_number(const std::string& path, int otherwise) {
  const auto text = io::read_file(path, kibibytes(4));
  return text && !text->empty() ? std::atoi(text->c_str()) : otherwise;
}

// The memory limit of a container, if the kernel shows one.
std::uint64_t memory_limit() {
  std::uint64_t limit = UINT64_MAX;
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const auto text = io::read_file(path, kibibytes(4));
    if (!text) continue;
    const std::uint64_t value = std::strtoull(text->c_str(), nullptr, 10);
    if (value > 0) limit = std::min(limit, value);
  }
  return limit;
}

}  // namespace

Machine this_machine() {
  Machine machine;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) CPU_SET(0, &set);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    const std::string topology = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
    machine.cpus.push_back({cpu, read_number(topology + "physical_package_id", 0),
                            read_number(topology + "core_id", cpu)});
  }
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  machine.memory = Bytes{std::min(pages * page, memory_limit())};
  return machine;
}

std::vector<NodeShare> divide(Machine machine, int nodes) {
  CHECK(nodes > 0 && !machine.cpus.empty(), "a machine with cpus is divided among nodes");
  std::sort(machine.cpus.begin(), machine.cpus.end(), [](const CpuPlace& a, const CpuPlace& b) {
    return std::tie(a.package, a.core, a.cpu) < std::tie(b.package, b.core, b.cpu);
  });
  std::vector<std::vector<int>> cores;
  for (std::size_t i = 0; i < machine.cpus.size(); ++i) {
    const CpuPlace& place = machine.cpus[i];
    const bool same_core = i > 0 && place.package == machine.cpus[i - 1].package &&
                           place.core == machine.cpus[i - 1].core;
    if (!same_core) cores.emplace_back();
    cores.back().push_back(place.cpu);
  }
  const auto count = static_cast<std::size_t>(nodes);
  if (cores.size() < count) {  // fewer cores than nodes: single cpus are distributed
    std::vector<std::vector<int>> singles;
    for (const auto& core : cores)
      for (int cpu : core) singles.push_back({cpu});
    cores = std::move(singles);
  }
  std::vector<NodeShare> shares(count);
  for (std::size_t i = 0; i < count; ++i) {
    shares[i].memory = Bytes{machine.memory.count / count};
    shares[i].gpus = std::to_string(i) + "/" + std::to_string(count);
    std::size_t first = i * cores.size() / count;
    std::size_t end = (i + 1) * cores.size() / count;
    if (first == end) {
      first = i % cores.size();
      end = first + 1;
    }
    for (std::size_t core = first; core < end; ++core)
      shares[i].cpus.insert(shares[i].cpus.end(), cores[core].begin(), cores[core].end());
    std::sort(shares[i].cpus.begin(), shares[i].cpus.end());
  }
  return shares;
}

}  // namespace lockstep::cli
