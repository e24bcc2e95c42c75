#pragma once
// One number that a rank logged. Values are what programs computed: NaN and the infinities are
// kept, for they are what somebody looks for when a training diverges.

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/table.h"
#include "common/base/time.h"

namespace lockstep::metrics {

struct Point {
  std::int64_t step = 0;
  Instant time;  // as the program that logged it says
  double value = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "step", s.step);
    see(field<2>, "time", s.time);
    see(field<3>, "value", s.value, {.not_finite = true});
  }
};

// Equal as what a store keeps: NaN is NaN, whatever its bits.
bool operator==(const Point& a, const Point& b);

// By step, then time, then value with NaN after all others. Points that are neither before nor
// behind each other are equal.
bool is_before(const Point& a, const Point& b);

struct NamedPoint {
  std::string name;  // of the metric
  Point point;
  friend bool operator==(const NamedPoint&, const NamedPoint&) = default;
};

// What is longer is left out by all that read metrics, and refused by the store.
inline constexpr std::size_t kMaxMetricNameBytes = 250;  // as MLflow's

// Which of its two numbers the curve goes along.
enum class Axis { step, time };
Word describe(Axis axis);
// Steps, or nanoseconds since 1970.
inline std::int64_t place_on(Axis axis, const Point& point) {
  return axis == Axis::step ? point.step : point.time.ns;
}

}  // namespace lockstep::metrics
