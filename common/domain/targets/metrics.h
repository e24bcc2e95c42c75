#pragma once
// The resources that nodes and ranks use, as their agents sample them. The values are for people:
// no decision depends on them, and no journal has them. Cpu time per second is counted in
// thousandths of a core, so that all amounts are whole numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/ranks/bounds.h"

namespace lockstep {

// The most ranks in one message; ranks beyond are left out.
inline constexpr std::size_t kMaxRanksOfUse = 4'096;
inline constexpr std::size_t kMaxPartsOfUse = 1'024;
inline constexpr std::size_t kMaxGpusOfUse = 256;
inline constexpr std::size_t kMaxSamplesOfUse = 10'000;
inline constexpr Rule kCpuRule{.low = 0, .high = 1'000'000'000};  // the most cpu time: a million
                                                                  // cores
inline constexpr Rule kRanksOfUse{.count = kMaxRanksOfUse};

struct GpuUse {
  int index = 0;         // the same index as GpuDevice::index
  int busy_percent = 0;  // the share of the time in which the GPU was busy
  Bytes memory;
  static void table(auto& s, auto&& see) {
    see(field<1>, "index", s.index, {.low = 0, .high = 65'535});
    see(field<2>, "busy_percent", s.busy_percent, {.low = 0, .high = 100});
    see(field<3>, "memory", s.memory);
  }
  friend bool operator==(const GpuUse&, const GpuUse&) = default;
};

struct NodeUse {
  std::int64_t cpu_milli = 0;  // the use of the cpus that the node offers, by any process
  Bytes memory;  // the use of the machine's memory, or of the agent's cgroup if that has a limit
  Bytes disk_used, disk_total;  // the space of the file system that holds the attempts
  std::uint64_t received_per_second = 0, sent_per_second = 0;  // bytes, without loopback
  std::vector<GpuUse> gpus;                                    // the GPUs that the node offers
  static void table(auto& s, auto&& see) {
    see(field<1>, "cpu_milli", s.cpu_milli, kCpuRule);
    see(field<2>, "memory", s.memory);
    see(field<3>, "disk_used", s.disk_used);
    see(field<4>, "disk_total", s.disk_total);
    see(field<5>, "received_per_second", s.received_per_second);
    see(field<6>, "sent_per_second", s.sent_per_second);
    see(field<7>, "gpus", s.gpus, {.count = kMaxGpusOfUse});
  }
  friend bool operator==(const NodeUse&, const NodeUse&) = default;
};

// The resources that a rank and the processes that it started use.
struct RankUse {
  int rank = 0;                // global
  std::int64_t cpu_milli = 0;  // the cpu use since the sample before
  Duration cpu_time{0};        // the cpu time since the rank's start
  Bytes memory, peak_memory;
  Bytes read, written;  // bytes from and to storage, since the rank's start
  static void table(auto& s, auto&& see) {
    see(field<1>, "rank", s.rank, {.low = -1, .high = kMaxRankNumber});
    see(field<2>, "cpu_milli", s.cpu_milli, kCpuRule);
    see(field<3>, "cpu_time", s.cpu_time);
    see(field<4>, "memory", s.memory);
    see(field<5>, "peak_memory", s.peak_memory);
    see(field<6>, "read", s.read);
    see(field<7>, "written", s.written);
  }
  friend bool operator==(const RankUse&, const RankUse&) = default;
};

// The resources that the ranks of one attempt use on one node.
struct PartUse {
  AttemptId attempt;
  std::vector<RankUse> ranks;
  Duration quiet{0};  // the time in which they have written nothing to their logs and used no cpu
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "ranks", s.ranks, kRanksOfUse);
    see(field<3>, "quiet", s.quiet);
  }
  friend bool operator==(const PartUse&, const PartUse&) = default;
};

// The cpu use of all ranks together below which they count as idle.
inline constexpr std::int64_t kIdleCpuMilli = 10;
inline constexpr Duration kSampleEvery = seconds(5);
inline constexpr Duration kShortestSampleInterval = seconds(1);
inline constexpr Duration kLongestSampleInterval = minutes(10);

// ---- what the launcher tells of it -------------------------------------------------------------

// A sample that the launcher keeps.
struct UseSample {
  Duration age{0};
  std::int64_t cpu_milli = 0;
  Bytes memory;
  std::uint64_t received_per_second = 0, sent_per_second = 0;
  int gpu_percent = -1;  // mean of its gpus; -1: it has none
  static void table(auto& s, auto&& see) {
    see(field<1>, "age", s.age);
    see(field<2>, "cpu_milli", s.cpu_milli, kCpuRule);
    see(field<3>, "memory", s.memory);
    see(field<4>, "received_per_second", s.received_per_second);
    see(field<5>, "sent_per_second", s.sent_per_second);
    see(field<6>, "gpu_percent", s.gpu_percent, {.low = -1, .high = 100});
  }
  friend bool operator==(const UseSample&, const UseSample&) = default;
};
struct MeasuredNode {
  NodeUse use;
  Duration age{0};                      // the time since the sample arrived
  bool stale = false;                   // the node should have sent a newer one long ago
  std::vector<UseSample> history = {};  // oldest first; only if one node is asked for
  static void table(auto& s, auto&& see) {
    see(field<1>, "use", s.use);
    see(field<2>, "age", s.age);
    see(field<3>, "stale", s.stale);
    see(field<4>, "history", s.history, {.count = kMaxSamplesOfUse});
  }
  friend bool operator==(const MeasuredNode&, const MeasuredNode&) = default;
};
struct MeasuredPart {
  std::vector<RankUse> ranks;
  Duration quiet{0};  // see PartUse
  Duration age{0};
  bool stale = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "ranks", s.ranks, kRanksOfUse);
    see(field<2>, "quiet", s.quiet);
    see(field<3>, "age", s.age);
    see(field<4>, "stale", s.stale);
  }
  friend bool operator==(const MeasuredPart&, const MeasuredPart&) = default;
};

// The mean of `gpus`; -1 if there are none.
int mean_busy(const std::vector<GpuUse>& gpus);
// The sum over the ranks; its `rank` is -1.
RankUse sum_of(const std::vector<RankUse>& ranks);

}  // namespace lockstep
