#include "launcher/metrics/curves/downsample.h"

#include <cmath>

#include "common/base/check.h"

namespace lockstep::metrics {

namespace {

void widen(Bucket& bucket, double value) {
  if (std::isnan(value)) {
    ++bucket.nans;
    return;
  }
  if (std::isnan(bucket.min) || value < bucket.min) bucket.min = value;
  if (std::isnan(bucket.max) || value > bucket.max) bucket.max = value;
}

}  // namespace

Downsampler::Downsampler(Axis axis, std::int64_t from, std::int64_t to, int buckets)
    : axis_(axis), from_(from), to_(to) {
  CHECK(buckets >= 1 && buckets <= kMaxBuckets, "a curve has 1 to kMaxBuckets buckets");
  CHECK(from <= to, "a curve goes from its left end to its right end");
  open_.resize(static_cast<std::size_t>(buckets));
  for (Open& open : open_) open.bucket.min = open.bucket.max = std::nan("");
}

// Differences of places can be twice as large as a place, and are multiplied.
std::size_t Downsampler::bucket_of(std::int64_t place) const {
  using Wide = unsigned __int128;
  const auto distance = [this](std::int64_t to) {
    return static_cast<Wide>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from_));
  };
  return static_cast<std::size_t>(distance(place) * open_.size() / (distance(to_) + 1));
}

void Downsampler::add(const Point& point) {
  const std::int64_t place = place_on(axis_, point);
  if (place < from_ || place > to_) return;
  auto& [bucket, newest] = open_[bucket_of(place)];
  const bool is_first = bucket.points++ == 0;
  widen(bucket, point.value);
  if (is_first || place < bucket.first) bucket.first = place;
  const bool is_last =
      is_first || place > bucket.last_at || (place == bucket.last_at && is_before(newest, point));
  if (!is_last) return;
  bucket.last_at = place;
  bucket.last = point.value;
  newest = point;
}

std::vector<Bucket> Downsampler::buckets() const {
  std::vector<Bucket> all;
  for (const Open& open : open_)
    if (open.bucket.points > 0) all.push_back(open.bucket);
  return all;
}

}  // namespace lockstep::metrics
