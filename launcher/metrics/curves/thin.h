#pragma once
// Which points of a long curve make way for new ones, so that a series stays within its limit and
// still shows all of its length: about every second goes, and no extreme and no lone NaN does.

#include <cstddef>
#include <vector>

#include "common/domain/runs/point.h"

namespace lockstep::metrics {

// `points` in the order of is_before(). The positions of those that go, ascending. Of each four in
// a row the least, the greatest and the first NaN stay, and of all the first and the last. Fewer
// than 8 points all stay.
std::vector<std::size_t> thinned_out(const std::vector<Point>& points);

}  // namespace lockstep::metrics
