#pragma once
// Samples the resources of this node's ranks: cpu, memory, bytes from and to storage, and since
// when they have done nothing. A rank's processes are the processes of its cgroup; without cgroups
// they are the rank and its descendants, and memory that they share is counted in each. It only
// reads; it decides nothing.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/domain/targets/metrics.h"
#include "runner/usage/process_use.h"

namespace lockstep::runner {

class RankSampler {
 public:
  // `every`: zero = no samples. `root`: "", or the root directory of a fake machine, with /proc.
  explicit RankSampler(Duration every, std::string root = "")
      : every_(every), root_(std::move(root)) {}

  // Adds a rank. `pid` as lockstep-spawn knows it, which may be in another pid namespace than ours.
  void started(Instant now, int rank, int pid);
  // The kernel's numbers for the rank and the descendants that were waited for: their cpu time, and
  // the most resident memory of one of them.
  void exited(int rank, Duration cpu_time, Bytes largest);
  // The time of the next sample(); never() while no rank lives.
  Instant next_sample() const { return next_; }

  struct Look {
    int spawn_pid = -1;  // the parent of the ranks, as we know it; -1: unknown
    // The directory of a rank's memory cgroup; "": none.
    std::function<std::string(int rank)> cgroup;
    std::uint64_t logged = 0;  // bytes in the logs of all ranks
  };
  // The live ranks. `attempt` is left empty.
  PartUse sample(Instant now, const Look& look);

  // The whole use of a rank, living or ended.
  RankUse used(int rank) const;

 private:
  struct Rank {
    int pid = 0;
    std::optional<int> our_pid;  // the pid in our namespace, once found
    bool live = true;
    std::uint64_t ticks = 0;  // the ticks at the last sample
    Instant sampled;          // the time of the last sample; its start before the first
    ProcessIo io;
    RankUse use;
  };
  std::optional<std::string> read(int pid, const char* file) const;
  std::vector<ProcessUse> all_processes() const;
  void find_our_pids(int spawn_pid, const std::vector<ProcessUse>& all);
  void measure(Instant now, Rank& rank, const std::vector<int>& pids, const std::string& cgroup);

  const Duration every_;
  const std::string root_;
  std::map<int, Rank> ranks_;
  Instant next_ = Instant::never();
  std::uint64_t logged_ = 0;
  Instant active_;  // the time at which samples last showed that a rank did something
};

}  // namespace lockstep::runner
