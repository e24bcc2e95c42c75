#pragma once
// What a gang found out about its ranks, for those who ask the launcher: cut down to what one may
// see, and with the names of its nodes. Pure.

#include "common/domain/ranks/found.h"
#include "common/domain/why/jobs/named_found.h"
#include "launcher/words/said.h"

namespace lockstep::launcher {

struct Attempt;
class State;

// For those who may see the job but not read it: without paths, addresses, stacks and what ranks
// use.
Found without_contents(Found found);

// The attempt's names for the words of a finding. Both must outlive what is returned.
words::About about(const State& state, const Attempt& attempt);
// The finding as a reason has it.
NamedFound named(const State& state, const Attempt& attempt, const Found& found);

}  // namespace lockstep::launcher
