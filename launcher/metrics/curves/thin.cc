#include "launcher/metrics/curves/thin.h"

#include <cmath>
#include <optional>

namespace lockstep::metrics {

namespace {

constexpr std::size_t kGroup = 4, kFewest = 8;

// Those of a group that stay; none where there is no such value.
struct Stays {
  std::optional<std::size_t> least, greatest, nan;
  bool has(std::size_t i) const { return i == least || i == greatest || i == nan; }
};

Stays stays_of(const std::vector<Point>& points, std::size_t begin) {
  Stays stays;
  for (std::size_t i = begin; i < begin + kGroup; ++i) {
    const double value = points[i].value;
    if (std::isnan(value)) {
      if (!stays.nan) stays.nan = i;
      continue;
    }
    if (!stays.least || value < points[*stays.least].value) stays.least = i;
    if (!stays.greatest || value >= points[*stays.greatest].value) stays.greatest = i;
  }
  return stays;
}

}  // namespace

std::vector<std::size_t> thinned_out(const std::vector<Point>& points) {
  std::vector<std::size_t> gone;
  if (points.size() < kFewest) return gone;
  // What is left over behind the last whole group stays.
  for (std::size_t begin = 0; begin + kGroup <= points.size(); begin += kGroup) {
    const Stays stays = stays_of(points, begin);
    for (std::size_t i = begin; i < begin + kGroup; ++i) {
      const bool is_end = i == 0 || i + 1 == points.size();
      if (!stays.has(i) && !is_end) gone.push_back(i);
    }
  }
  return gone;
}

}  // namespace lockstep::metrics
