#include "common/domain/targets/metrics.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr Duration kLongestCpuTime = minutes(100LL * 366 * 24 * 60);  // the wire has the same bound

}  // namespace

int mean_busy(const std::vector<GpuUse>& gpus) {
  if (gpus.empty()) return -1;
  int sum = 0;
  for (const GpuUse& gpu : gpus) sum += gpu.busy_percent;
  return sum / static_cast<int>(gpus.size());
}

RankUse sum_of(const std::vector<RankUse>& ranks) {
  RankUse sum;
  sum.rank = -1;
  for (const RankUse& rank : ranks) {
    sum.cpu_milli += rank.cpu_milli;
    sum.cpu_time = std::min(sum.cpu_time + rank.cpu_time, kLongestCpuTime);
    sum.memory.count += rank.memory.count;
    sum.peak_memory.count += rank.peak_memory.count;
    sum.read.count += rank.read.count;
    sum.written.count += rank.written.count;
  }
  return sum;
}

}  // namespace lockstep
