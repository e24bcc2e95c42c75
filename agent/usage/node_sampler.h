#pragma once
// Samples the resources that this node uses: its offered cpus, memory, network, disk. Where the
// agent's cgroup has a limit of cpu or memory, as in a container, the cgroup's use counts instead
// of the machine's. It only reads.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/usage/node_texts.h"
#include "common/base/time.h"
#include "common/domain/targets/metrics.h"

namespace lockstep::agent {

class NodeSampler {
 public:
  // `attempts`: a path of the file system that is measured. `root`: "", or the root directory of a
  // fake machine, with proc and sys/fs/cgroup.
  NodeSampler(const std::vector<int>& cpus, std::string attempts, std::string root = "");

  // Rates are over the time since the last call; the first call has none, so they are 0.
  NodeUse sample(Instant now);

 private:
  std::optional<Duration> cpu_time() const;
  Bytes memory() const;

  const std::set<int> cpus_;
  const std::string attempts_, root_;
  std::string cpu_cgroup_, memory_cgroup_;  // the directories of cgroups with a limit; "": none
  struct Counters {
    Instant at;
    std::optional<Duration> cpu;
    Traffic traffic;
  };
  std::optional<Counters> last_;
};

}  // namespace lockstep::agent
