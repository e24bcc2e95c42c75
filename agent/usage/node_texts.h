#pragma once
// Computes the use of a node's resources from the texts of /proc and of a cgroup's files. Pure;
// formats: proc(5), cgroups(7).

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"

namespace lockstep::agent {

// The time for which these cpus were not idle, in ticks, from /proc/stat; nullopt: it has none of
// these cpus.
std::optional<std::uint64_t> busy_ticks(std::string_view stat, const std::set<int>& cpus);

// The used memory: MemTotal - MemAvailable of /proc/meminfo.
std::optional<Bytes> used_memory(std::string_view meminfo);

struct Traffic {
  std::uint64_t received = 0, sent = 0;  // bytes since the start of the machine
};
// The sum over the interfaces of /proc/net/dev, without `lo`.
Traffic traffic(std::string_view net_dev);

// The microseconds of cpu time in a cpu.stat (v2).
std::optional<std::uint64_t> cgroup_cpu_us(std::string_view cpu_stat);

// The page cache that can be dropped: inactive_file of memory.stat; in v1 with the children's.
Bytes inactive_file(std::string_view memory_stat);

}  // namespace lockstep::agent
