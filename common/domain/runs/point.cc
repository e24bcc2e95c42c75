#include "common/domain/runs/point.h"

#include <cmath>

namespace lockstep::metrics {

bool operator==(const Point& a, const Point& b) {
  const bool same_value = a.value == b.value || (std::isnan(a.value) && std::isnan(b.value));
  return a.step == b.step && a.time == b.time && same_value;
}

bool is_before(const Point& a, const Point& b) {
  if (a.step != b.step) return a.step < b.step;
  if (a.time != b.time) return a.time < b.time;
  if (std::isnan(b.value)) return !std::isnan(a.value);
  return a.value < b.value;  // false when a is NaN
}

Word describe(Axis axis) {
  switch (axis) {
    case Axis::step: return {1, "step"};
    case Axis::time: return {2, "time"};
  }
  return {};
}

}  // namespace lockstep::metrics
