#pragma once
// A curve as it is drawn: any number of points in a few buckets.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/domain/ranks/bounds.h"
#include "common/domain/runs/run_data.h"

namespace lockstep::metrics {

// Points that lie next to each other. `min` and `max` are of the values that are no NaN, and NaN
// where there are none.
struct Bucket {
  std::int64_t first = 0, last_at = 0;  // the places of its first and last point on the axis
  std::uint64_t points = 0, nans = 0;   // how many points it has, and how many of them are NaN
  double min = 0, max = 0;
  double last = 0;  // of the point that is last on the axis; of several, the last in is_before()
  static void table(auto& s, auto&& see) {
    see(field<1>, "first", s.first);
    see(field<2>, "last_at", s.last_at);
    see(field<3>, "points", s.points);
    see(field<4>, "nans", s.nans);
    see(field<5>, "min", s.min, {.not_finite = true});
    see(field<6>, "max", s.max, {.not_finite = true});
    see(field<7>, "last", s.last, {.not_finite = true});
  }
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

inline constexpr int kMaxBuckets = 10'000;

struct Curve {
  SeriesId series;
  std::uint64_t points = 0, thinned = 0;  // that are kept; that made way
  std::vector<Bucket> buckets;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.series.attempt);
    see(field<2>, "incarnation", s.series.incarnation);
    see(field<3>, "rank", s.series.rank, kRankRule);
    see(field<4>, "points", s.points);
    see(field<5>, "thinned", s.thinned);
    see(field<6>, "buckets", s.buckets, {.count = kMaxBuckets});
  }
  friend bool operator==(const Curve&, const Curve&) = default;
};
inline constexpr std::size_t kMaxCurves = 1'000;  // of one answer: the last ones

}  // namespace lockstep::metrics
