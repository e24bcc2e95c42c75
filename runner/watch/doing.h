#pragma once
// Concludes a rank's activity from one look: which of its processes counts, and the meaning of the
// place where its thread is blocked. Pure.

#include <cstddef>

#include "common/domain/ranks/standing.h"
#include "runner/watch/rank_look.h"

namespace lockstep::runner {

// The index of the process that does the rank's work. The look has at least one.
std::size_t working_process(const RankLook& look);
// The number of processes above that one that only wait for it.
int shells_above(const RankLook& look, std::size_t working);
// Whether a process that is blocked there may wait for other processes of its rank.
bool may_have_workers(WaitsOn on);

// The activity of a rank whose working thread, as seen in `look`, uses no cpu.
Doing doing_of(const RankLook& look, const ThreadLook& thread);
// The activity of a thread at a lock, whatever other threads do.
Doing doing_at_lock(const ThreadLook& thread);

}  // namespace lockstep::runner
