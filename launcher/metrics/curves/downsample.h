#pragma once
// A curve of any number of points in a given number of buckets, without losing what matters: a
// bucket keeps the least, the greatest and the last value, so that a spike of one step stays.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/domain/runs/curve.h"
#include "common/domain/runs/point.h"

namespace lockstep::metrics {

class Downsampler {
 public:
  // Cuts the places `from` to `to`, both included, into `buckets` (1 to kMaxBuckets) of the same
  // width. `from` may not be greater than `to`.
  Downsampler(Axis axis, std::int64_t from, std::int64_t to, int buckets);
  // In any order. A point elsewhere on the axis is left out.
  void add(const Point& point);
  // Those that have points, in the order of the axis.
  std::vector<Bucket> buckets() const;

 private:
  struct Open {
    Bucket bucket;
    Point newest;
  };
  std::size_t bucket_of(std::int64_t place) const;

  const Axis axis_;
  const std::int64_t from_, to_;
  std::vector<Open> open_;
};

}  // namespace lockstep::metrics
