#include "launcher/exposition/metric_histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lockstep::launcher {
namespace {

constexpr double kShortTimes[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                  0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
constexpr double kLongTimes[] = {1,     5,     15,     60,     300,    900,     1'800,
                                 3'600, 7'200, 14'400, 43'200, 86'400, 259'200, 604'800};

}  // namespace

std::span<const double> short_times() { return kShortTimes; }
std::span<const double> long_times() { return kLongTimes; }

MetricHistogram::MetricHistogram(std::span<const double> bounds)
    : bounds_(bounds), counts_(bounds.size() + 1, 0) {}

void MetricHistogram::observe(double value) {
  if (std::isnan(value)) return;
  value = std::max(value, 0.0);
  const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
  ++counts_[static_cast<std::size_t>(bound - bounds_.begin())];
  sum_ += value;
}

std::uint64_t MetricHistogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

}  // namespace lockstep::launcher
