#pragma once
// What nodes and ranks use, as their agents sample it. These values are for people: no decision
// depends on them, and they are in no journal. Cpu time per second is counted in thousandths of a
// core, so that all amounts are whole numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/time.h"

namespace lockstep {

struct GpuUse {
  int index = 0;         // as GpuDevice::index
  int busy_percent = 0;  // of the time
  Bytes memory;
  friend bool operator==(const GpuUse&, const GpuUse&) = default;
};

struct NodeUse {
  std::int64_t cpu_milli = 0;   // of the cpus that it offers, by whatever process
  Bytes memory;                 // of the machine, or of the agent's cgroup if that has a limit
  Bytes disk_used, disk_total;  // of the file system that holds the attempts
  std::uint64_t received_per_second = 0, sent_per_second = 0;  // bytes, without loopback
  std::vector<GpuUse> gpus;                                    // of those that it offers
  friend bool operator==(const NodeUse&, const NodeUse&) = default;
};

// Of a rank and the processes that it started.
struct RankUse {
  int rank = 0;                // global
  std::int64_t cpu_milli = 0;  // since the sample before
  Duration cpu_time{0};        // since its start
  Bytes memory, peak_memory;
  Bytes read, written;  // from and to storage, since its start
  friend bool operator==(const RankUse&, const RankUse&) = default;
};

// Of the ranks of one attempt on one node.
struct PartUse {
  AttemptId attempt;
  std::vector<RankUse> ranks;
  Duration quiet{0};  // for so long they have written nothing to their logs and used no cpu
  friend bool operator==(const PartUse&, const PartUse&) = default;
};

// The ranks use no cpu while all of them together use less than this.
inline constexpr std::int64_t kIdleCpuMilli = 10;
inline constexpr Duration kSampleEvery = seconds(5);
inline constexpr Duration kShortestSampleInterval = seconds(1);
inline constexpr Duration kLongestSampleInterval = minutes(10);
// In one message; ranks beyond are left out.
inline constexpr std::size_t kMaxRanksOfUse = 4'096;
inline constexpr std::size_t kMaxPartsOfUse = 1'024;
inline constexpr std::size_t kMaxGpusOfUse = 256;

// ---- what the launcher tells of it -------------------------------------------------------------

// One of the samples that the launcher keeps.
struct UseSample {
  Duration age{0};
  std::int64_t cpu_milli = 0;
  Bytes memory;
  std::uint64_t received_per_second = 0, sent_per_second = 0;
  int gpu_percent = -1;  // mean of its gpus; -1: it has none
  friend bool operator==(const UseSample&, const UseSample&) = default;
};
struct MeasuredNode {
  NodeUse use;
  Duration age{0};                      // since it arrived
  bool stale = false;                   // the node should have sent a newer one long ago
  std::vector<UseSample> history = {};  // oldest first; only if one node is asked for
  friend bool operator==(const MeasuredNode&, const MeasuredNode&) = default;
};
struct MeasuredPart {
  std::vector<RankUse> ranks;
  Duration quiet{0};  // see PartUse
  Duration age{0};
  bool stale = false;
  friend bool operator==(const MeasuredPart&, const MeasuredPart&) = default;
};

// The mean of `gpus`; -1 if there are none.
int mean_busy(const std::vector<GpuUse>& gpus);
// The sum over the ranks; its `rank` is -1.
RankUse sum_of(const std::vector<RankUse>& ranks);

}  // namespace lockstep
