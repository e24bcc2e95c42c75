#pragma once
// How much the store of metrics takes. Whatever has a limit says so when it is reached.

#include <cstddef>
#include <cstdint>

#include "common/base/time.h"

namespace lockstep::metrics {

struct MetricsLimits {
  // A longer series is thinned out (curves/thin.h), so that it never stops in the middle of a
  // training.
  std::uint64_t points_per_series = 100'000;
  // Beyond these a change is refused. A job counts with the runs inside of it.
  std::uint64_t series_per_job = 20'000;  // metrics x ranks x attempts
  std::uint64_t points_per_job = 20'000'000;
  std::uint64_t points_per_owner = 0;            // of all jobs of a user; 0: no limit
  std::uint64_t text_bytes_per_job = 16u << 20;  // params and tags
  std::uint64_t runs_per_job = 10'000;
};
inline constexpr std::uint64_t kLeastPointsPerSeries = 1'000;

// A job's experiment and name may be longer; the rest is not kept.
inline constexpr std::size_t kMaxRunWordBytes = 4'096;

// What waits for the writer; beyond, a change is refused at once.
inline constexpr std::size_t kMaxWaitingChanges = 10'000;
inline constexpr std::size_t kMaxWaitingBytes = 64u << 20;

// A change is committed as soon as the one before it is. A kill of the process loses only changes
// that were not acknowledged; a power cut also what was acknowledged so long before it, at most.
inline constexpr Duration kSyncEvery = seconds(5);

}  // namespace lockstep::metrics
