#pragma once
// Token buckets, one for each source of requests (a user's key, an address). The number of buckets
// is bounded: at the limit it forgets those that are full again, and if that is not enough, all. It
// reads no clock.

#include <algorithm>
#include <cstddef>
#include <map>

#include "common/base/time.h"

namespace lockstep {

template <typename Key>
class RateLimit {
 public:
  struct Rate {
    double burst = 0;       // the most at once
    double per_second = 0;  // the average in the long run
  };
  explicit RateLimit(Rate rate, std::size_t most = 10'000) : rate_(rate), most_(most) {}

  bool take(const Key& key, Instant now) {
    Bucket& bucket = bucket_of(key, now);
    bucket.left = left(bucket, now);
    bucket.at = now;
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  }
  std::size_t size() const { return buckets_.size(); }

 private:
  struct Bucket {
    double left = 0;
    Instant at;
  };
  double left(const Bucket& bucket, Instant now) const {
    const double elapsed = std::max(0.0, static_cast<double>((now - bucket.at).count()) / 1e9);
    return std::min(rate_.burst, bucket.left + elapsed * rate_.per_second);
  }
  Bucket& bucket_of(const Key& key, Instant now) {
    const auto found = buckets_.find(key);
    if (found != buckets_.end()) return found->second;
    if (buckets_.size() >= most_)
      std::erase_if(buckets_, [&](const auto& b) { return left(b.second, now) >= rate_.burst; });
    if (buckets_.size() >= most_) buckets_.clear();
    return buckets_[key] = {rate_.burst, now};
  }

  const Rate rate_;
  const std::size_t most_;
  std::map<Key, Bucket> buckets_;
};

}  // namespace lockstep
