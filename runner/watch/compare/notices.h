#pragma once
// What is worth saying of single ranks, whatever the others do: it has not started, is stopped, is
// in the kernel's hands, is claimed twice, uses other libraries than the rest. Pure. Each is a
// notice: nothing is ever done for it.

#include <vector>

#include "runner/watch/compare/evidence.h"

namespace lockstep::runner {

inline constexpr Duration kSayNotStartedAfter = seconds(30);

// When ranks were first heard of, and when the first of them had met the others.
struct FirstTimes {
  std::vector<Instant> heard;  // by rank; never(): not yet
  Instant met = Instant::never();
};

EvidenceList notices(const GangNow& gang, const GangShape& shape, const FirstTimes& first,
                     Duration after, Instant now);

}  // namespace lockstep::runner
