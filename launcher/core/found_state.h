#pragma once
// What changes between two lists of a gang's findings, for events and for the journal: only kinds,
// verdicts and ranks count, never the numbers, so that a finding that lasts is one fact. Pure.

#include <string>

#include "common/domain/found.h"
#include "launcher/words/said.h"

namespace lockstep::launcher {

struct Attempt;
class State;

struct FoundDifference {
  FoundList fresh;  // holds now, and did not with this verdict
  FoundList over;   // nothing of this kind about any of its ranks holds any more
};
FoundDifference difference_of(const FoundList& before, const FoundList& now);
// Whether both lists say the same, whatever their numbers are.
bool say_the_same(const FoundList& a, const FoundList& b);

// For those who may see the job but not read it: without paths, addresses, stacks and what ranks
// use.
Found without_contents(Found found);

// The attempt's names for the words of a finding. Both must outlive what is returned.
words::About about(const State& state, const Attempt& attempt);

}  // namespace lockstep::launcher
