#pragma once
// The findings about a gang's ranks for callers of the launcher: reduced to what each of them may
// see, and with the names of its nodes. Pure.

#include "common/domain/ranks/found.h"
#include "common/domain/why/jobs/named_found.h"
#include "launcher/words/said.h"

namespace lockstep::launcher {

struct Attempt;
class State;

// The finding for callers who may see the job but not read it: without paths, addresses, stacks and
// what ranks use.
Found without_contents(Found found);

// The names of the attempt's nodes, for the texts of a finding. Both arguments must outlive the
// result.
words::About about(const State& state, const Attempt& attempt);
// The finding in the form in which a reason holds it.
NamedFound named(const State& state, const Attempt& attempt, const Found& found);

}  // namespace lockstep::launcher
