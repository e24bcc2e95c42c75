#include "agent/inventory/memory.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "agent/inventory/cgroup_path.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

Bytes machine_memory(const std::string& root) {
  const auto text = io::read_file(root + "/proc/meminfo");
  unsigned long long kib = 0;
  if (text) std::sscanf(text->c_str(), "MemTotal: %llu kB", &kib);
  return kibibytes(kib);
}

std::optional<Bytes> cgroup_limit(const std::string& root) {
  std::optional<Bytes> limit;
  for (const std::string& file :
       cgroup_files(root, "memory", "memory.max", "memory.limit_in_bytes")) {
    const auto text = io::read_file(file);
    unsigned long long bytes = 0;
    // The file may hold "max" instead of a number.
    if (!text || std::sscanf(text->c_str(), "%llu", &bytes) != 1) continue;
    limit = limit ? std::min(*limit, Bytes{bytes}) : Bytes{bytes};
  }
  return limit;
}

}  // namespace

MemoryProbe probe_memory(const std::string& root) {
  MemoryProbe probe;
  probe.usable = machine_memory(root);
  const auto limit = cgroup_limit(root);
  if (limit && *limit < probe.usable) {
    probe.limitation = "the agent's cgroup may use " + to_string(*limit) + " of " +
                       to_string(probe.usable) + " of memory";
    probe.usable = *limit;
  }
  return probe;
}

}  // namespace lockstep::agent
