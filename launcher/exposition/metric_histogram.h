#pragma once
// How often values were how large: what a histogram of Prometheus shows. Plain values; whoever
// measures keeps one for each series.

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::launcher {

// Upper bounds of buckets in seconds, ascending; the last bucket has no bound. They stay as they
// are: other bounds would make other series.
// Of what a loop or a disk takes: 100 µs to 10 s.
std::span<const double> short_times();
// Of what people wait for: 1 s to a week.
std::span<const double> long_times();

class MetricHistogram {
 public:
  // `bounds` outlives it.
  explicit MetricHistogram(std::span<const double> bounds);

  // NaN is not counted, and what is below 0 counts as 0.
  void observe(double value);

  std::span<const double> bounds() const { return bounds_; }
  // How many values are in each bucket alone; one more than there are bounds.
  std::span<const std::uint64_t> counts() const { return counts_; }
  std::uint64_t count() const;
  double sum() const { return sum_; }

  friend bool operator==(const MetricHistogram& a, const MetricHistogram& b) {
    return a.counts_ == b.counts_ && a.sum_ == b.sum_;
  }

 private:
  std::span<const double> bounds_;
  std::vector<std::uint64_t> counts_;
  double sum_ = 0;
};

}  // namespace lockstep::launcher
