#pragma once
// Findings about single ranks, whatever the others do: a rank has not started, is stopped, is
// blocked in the kernel, is claimed twice, or uses other libraries than the rest. Pure. All of them
// are notices: no action follows.

#include <vector>

#include "runner/watch/compare/evidence.h"

namespace lockstep::runner {

inline constexpr Duration kSayNotStartedAfter = seconds(30);

// The times at which ranks were first reported, and at which the first of them had connected to the
// others.
struct FirstTimes {
  std::vector<Instant> heard;  // by rank; never(): not reported yet
  Instant met = Instant::never();
};

EvidenceList notices(const GangNow& gang, const GangShape& shape, const FirstTimes& first,
                     Duration after, Instant now);

}  // namespace lockstep::runner
