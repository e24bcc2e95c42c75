// Downsampling and thinning against models that look at everything.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "launcher/metrics/curves/downsample.h"
#include "launcher/metrics/curves/thin.h"

namespace lockstep::metrics {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const double kNan = std::nan("");

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::vector<Point> random_points(std::mt19937_64& random, std::size_t count) {
  const double odd[] = {kNan, std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(), 0, 1e300};
  std::vector<Point> points(count);
  for (Point& point : points) {
    point.step = static_cast<std::int64_t>(random() % 200) - 100;
    point.time = Instant{static_cast<std::int64_t>(random() % 1'000)};
    point.value = random() % 4 == 0 ? odd[random() % 5] : static_cast<double>(random() % 50);
  }
  return points;
}

TEST(Downsample, KeepsTheLeastTheGreatestAndTheLastOfEachBucket) {
  Downsampler down(Axis::step, 0, 9, 2);
  for (int step = 0; step < 10; ++step)
    down.add({step, Instant{step}, step == 3 ? 100.0 : step == 7 ? -100.0 : step});
  const auto buckets = down.buckets();
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].first, 0);
  EXPECT_EQ(buckets[0].last_at, 4);
  EXPECT_EQ(buckets[0].points, 5u);
  EXPECT_EQ(buckets[0].max, 100);
  EXPECT_EQ(buckets[0].last, 4);
  EXPECT_EQ(buckets[1].min, -100);
  EXPECT_EQ(buckets[1].last, 9);
}

TEST(Downsample, ABucketOfNansHasNoExtremes) {
  Downsampler down(Axis::time, 0, 0, 1);
  down.add({1, Instant{0}, kNan});
  const auto buckets = down.buckets();
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_TRUE(std::isnan(buckets[0].min) && std::isnan(buckets[0].max));
  EXPECT_EQ(buckets[0].nans, 1u);
}

TEST(Downsample, WhatLiesElsewhereIsLeftOut) {
  Downsampler down(Axis::step, 10, 20, 3);
  down.add({9, {}, 1});
  down.add({21, {}, 1});
  EXPECT_THAT(down.buckets(), IsEmpty());
}

TEST(Downsample, TheWholeRangeOfNumbersFits) {
  Downsampler down(Axis::step, INT64_MIN, INT64_MAX, kMaxBuckets);
  for (const std::int64_t step : {INT64_MIN, std::int64_t{0}, INT64_MAX}) down.add({step, {}, 1});
  const auto buckets = down.buckets();
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].first, INT64_MIN);
  EXPECT_EQ(buckets[2].last_at, INT64_MAX);
}

// The model sorts all points of a bucket, whose borders it computes with fractions.
TEST(Downsample, AgreesWithAModelThatKeepsAllPoints) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 500; ++round) {
    const Axis axis = random() % 2 == 0 ? Axis::step : Axis::time;
    const auto points = random_points(random, random() % 60);
    const std::int64_t from = static_cast<std::int64_t>(random() % 300) - 150;
    const std::int64_t to = from + static_cast<std::int64_t>(random() % 400);
    const int count = 1 + static_cast<int>(random() % 20);
    Downsampler down(axis, from, to, count);
    std::map<std::int64_t, std::vector<Point>> model;
    for (const Point& point : points) {
      down.add(point);
      const std::int64_t place = place_on(axis, point);
      if (place < from || place > to) continue;
      model[(place - from) * count / (to - from + 1)].push_back(point);
    }
    const auto buckets = down.buckets();
    ASSERT_EQ(buckets.size(), model.size());
    std::size_t i = 0;
    for (auto& [number, inside] : model) {
      std::sort(inside.begin(), inside.end(), [&](const Point& a, const Point& b) {
        const auto pa = place_on(axis, a), pb = place_on(axis, b);
        return pa != pb ? pa < pb : is_before(a, b);
      });
      double least = kNan, greatest = kNan;
      std::uint64_t nans = 0;
      for (const Point& point : inside) {
        nans += std::isnan(point.value) ? 1 : 0;
        if (std::isnan(point.value)) continue;
        least = std::isnan(least) ? point.value : std::min(least, point.value);
        greatest = std::isnan(greatest) ? point.value : std::max(greatest, point.value);
      }
      const Bucket& bucket = buckets[i++];
      ASSERT_EQ(bucket.points, inside.size());
      ASSERT_EQ(bucket.nans, nans);
      ASSERT_TRUE(same(bucket.min, least) && same(bucket.max, greatest));
      ASSERT_TRUE(same(bucket.last, inside.back().value)) << bucket.last;
      ASSERT_EQ(bucket.first, place_on(axis, inside.front()));
      ASSERT_EQ(bucket.last_at, place_on(axis, inside.back()));
    }
  }
}

TEST(Thin, OfFourTheLeastAndTheGreatestStay) {
  std::vector<Point> points;
  for (const double value : {0, 1, 2, 3, 4, 9, 4, 4, 5, 5, 5, 5})
    points.push_back({static_cast<std::int64_t>(points.size()), {}, value});
  EXPECT_THAT(thinned_out(points), ElementsAre(1, 2, 6, 7, 9, 10));
}

TEST(Thin, FewPointsAllStay) { EXPECT_THAT(thinned_out(std::vector<Point>(7)), IsEmpty()); }

TEST(Thin, NoExtremeAndNoLoneNanGoes) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 300; ++round) {
    auto points = random_points(random, 8 + random() % 200);
    std::sort(points.begin(), points.end(), is_before);
    const auto gone = thinned_out(points);
    ASSERT_TRUE(std::is_sorted(gone.begin(), gone.end()));
    std::vector<Point> left;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (!std::binary_search(gone.begin(), gone.end(), i)) left.push_back(points[i]);
    ASSERT_TRUE(left.front() == points.front() && left.back() == points.back());
    const auto numbers = [](const std::vector<Point>& of) {
      std::vector<double> all;
      for (const Point& point : of)
        if (!std::isnan(point.value)) all.push_back(point.value);
      std::sort(all.begin(), all.end());
      return all;
    };
    const auto before = numbers(points), after = numbers(left);
    ASSERT_EQ(before.empty(), after.empty());
    if (!before.empty()) {
      ASSERT_TRUE(before.front() == after.front() && before.back() == after.back());
    }
    const bool had_nan = before.size() < points.size();
    ASSERT_EQ(had_nan, after.size() < left.size());
    if (points.size() >= 40) {
      ASSERT_LE(left.size(), points.size() * 3 / 4 + 4);
    }
  }
}

TEST(Point, NanIsEqualToItselfAndBehindAllNumbers) {
  EXPECT_TRUE((Point{1, {}, kNan}) == (Point{1, {}, -kNan}));
  EXPECT_TRUE(is_before({1, {}, 5}, {1, {}, kNan}));
  EXPECT_FALSE(is_before({1, {}, kNan}, {1, {}, 5}));
  EXPECT_FALSE(is_before({1, {}, kNan}, {1, {}, kNan}));
  EXPECT_TRUE(is_before({1, {}, kNan}, {2, {}, 5}));
}

}  // namespace
}  // namespace lockstep::metrics
