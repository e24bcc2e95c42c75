#pragma once
// What a part of an attempt held of its node, by day. Pure.

#include <cstdint>
#include <map>

#include "common/domain/runners/assignment.h"
#include "launcher/archive/ended_job.h"

namespace lockstep::archive {

// What was held from `from` to `to`, cut at midnights in UTC: day -> amounts. Nothing when `to` is
// not after `from`, as when the clock was set back between two starts of the launcher. A time
// longer than kLongestHeld is cut: a clock was wrong.
std::map<std::int64_t, Use> use_of(const Allotment& allotment, Instant from, Instant to);
inline constexpr Duration kLongestHeld = std::chrono::hours(24 * 3'660);

}  // namespace lockstep::archive
