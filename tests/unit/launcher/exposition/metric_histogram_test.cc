// Histograms: which bucket a value is in, and which values do not count.

#include "launcher/exposition/metric_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace lockstep::launcher {
namespace {

constexpr double kBounds[] = {1, 2, 4};

std::vector<std::uint64_t> counts_of(const MetricHistogram& histogram) {
  return {histogram.counts().begin(), histogram.counts().end()};
}

TEST(MetricHistogram, CountsAValueWhereItsBoundIs) {
  MetricHistogram histogram(kBounds);
  for (const double value : {0.0, 1.0, 1.5, 2.0, 4.0, 4.1, 1e300}) histogram.observe(value);
  EXPECT_EQ(counts_of(histogram), (std::vector<std::uint64_t>{2, 2, 1, 2}));
  EXPECT_EQ(histogram.count(), 7u);
}

TEST(MetricHistogram, TakesNothingThatIsNoNumber) {
  MetricHistogram histogram(kBounds);
  histogram.observe(std::nan(""));
  EXPECT_EQ(histogram, MetricHistogram(kBounds));
  histogram.observe(-5);
  EXPECT_EQ(counts_of(histogram), (std::vector<std::uint64_t>{1, 0, 0, 0}));
  EXPECT_EQ(histogram.sum(), 0);
  histogram.observe(INFINITY);
  EXPECT_EQ(counts_of(histogram).back(), 1u);
}

TEST(MetricHistogram, AgreesWithASearch) {
  std::mt19937 random(3);
  for (const auto bounds : {short_times(), long_times()}) {
    EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
    MetricHistogram histogram(bounds);
    std::vector<std::uint64_t> expected(bounds.size() + 1, 0);
    std::lognormal_distribution<double> values(0, 5);
    for (int i = 0; i < 5'000; ++i) {
      const double value =
          i % 10 == 0 ? bounds[static_cast<std::size_t>(i) % bounds.size()] : values(random);
      histogram.observe(value);
      std::size_t bucket = 0;
      while (bucket < bounds.size() && value > bounds[bucket]) ++bucket;
      ++expected[bucket];
    }
    EXPECT_EQ(counts_of(histogram), expected);
  }
}

}  // namespace
}  // namespace lockstep::launcher
