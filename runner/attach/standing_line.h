#pragma once
// The standing of a rank as a line of JSON, printed beside the lines of stacks.h, for `job
// diagnose`: {"rank": 3, "standing": {"doing": "waits", "call": "poll", …}}. Durations are in
// seconds. Pure.

#include <string>

#include "common/domain/ranks/standing.h"

namespace lockstep::runner {

// The standing in one line, which ends with a newline.
std::string standing_line(const RankStanding& standing);

}  // namespace lockstep::runner
