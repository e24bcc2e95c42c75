#include "agent/usage/node_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "agent/inventory/cgroup_path.h"
#include "agent/inventory/memory.h"
#include "common/io/file_system.h"
#include "common/io/files/disk_space.h"

namespace lockstep::agent {
namespace {

std::string text_of(const std::string& file) { return io::read_file(file).value_or(""); }

std::string directory_of(const std::string& file) { return file.substr(0, file.rfind('/')); }

// The directory of the file with the lowest number above 0; "": no file has one.
std::string lowest(const std::vector<std::string>& files) {
  std::string found;
  double least = 0;
  for (const std::string& file : files) {
    double value = 0, period = 1;
    // Forms of the text: "max 100000", "200000 100000", "-1", "1073741824"
    const std::string text = text_of(file);
    if (std::sscanf(text.c_str(), "%lf %lf", &value, &period) < 1 || value <= 0) continue;
    if (!found.empty() && value / period >= least) continue;
    least = value / period;
    found = directory_of(file);
  }
  return found;
}

std::uint64_t per_second(std::uint64_t before, std::uint64_t after, Duration elapsed) {
  // A counter went back because an interface was removed.
  if (after < before || elapsed <= Duration::zero()) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(after - before) * 1e9 /
                                    static_cast<double>(elapsed.count()));
}

}  // namespace

NodeSampler::NodeSampler(const std::vector<int>& cpus, std::string attempts, std::string root)
    : cpus_(cpus.begin(), cpus.end()), attempts_(std::move(attempts)), root_(std::move(root)) {
  cpu_cgroup_ = lowest(cgroup_files(root_, "cpu", "cpu.max", "cpu.cfs_quota_us"));
  if (!probe_memory(root_).limitation.empty())
    memory_cgroup_ = lowest(cgroup_files(root_, "memory", "memory.max", "memory.limit_in_bytes"));
}

std::optional<Duration> NodeSampler::cpu_time() const {
  if (!cpu_cgroup_.empty()) {
    if (const auto us = cgroup_cpu_us(text_of(cpu_cgroup_ + "/cpu.stat")))
      return std::chrono::microseconds(*us);
    long long ns = 0;  // cgroup v1 mounts cpu and cpuacct together
    if (std::sscanf(text_of(cpu_cgroup_ + "/cpuacct.usage").c_str(), "%lld", &ns) == 1)
      return Duration(ns);
  }
  const auto ticks = busy_ticks(text_of(root_ + "/proc/stat"), cpus_);
  if (!ticks) return std::nullopt;
  const auto per_second = static_cast<std::uint64_t>(std::max(sysconf(_SC_CLK_TCK), 1L));
  return Duration(static_cast<std::int64_t>(*ticks * (1'000'000'000 / per_second)));
}

Bytes NodeSampler::memory() const {
  if (!memory_cgroup_.empty())
    for (const char* file : {"/memory.current", "/memory.usage_in_bytes"}) {
      unsigned long long used = 0;
      if (std::sscanf(text_of(memory_cgroup_ + file).c_str(), "%llu", &used) != 1) continue;
      const Bytes cache = inactive_file(text_of(memory_cgroup_ + "/memory.stat"));
      return Bytes{used - std::min<std::uint64_t>(used, cache.count)};
    }
  return used_memory(text_of(root_ + "/proc/meminfo")).value_or(Bytes{});
}

NodeUse NodeSampler::sample(Instant now) {
  NodeUse use;
  Counters counters{now, cpu_time(), traffic(text_of(root_ + "/proc/net/dev"))};
  if (last_ && now > last_->at) {
    const Duration elapsed = now - last_->at;
    if (counters.cpu && last_->cpu && *counters.cpu > *last_->cpu)
      use.cpu_milli = static_cast<std::int64_t>(
          1000.0 * static_cast<double>((*counters.cpu - *last_->cpu).count()) /
          static_cast<double>(elapsed.count()));
    use.received_per_second =
        per_second(last_->traffic.received, counters.traffic.received, elapsed);
    use.sent_per_second = per_second(last_->traffic.sent, counters.traffic.sent, elapsed);
  }
  last_ = counters;
  use.memory = memory();
  if (const auto space = io::disk_space(attempts_)) {
    use.disk_total = space->total;
    use.disk_used = space->used;
  }
  return use;
}

}  // namespace lockstep::agent
