#pragma once
// The events of a job for people: the events of its facts, merged with the notes.

#include <vector>

#include "common/domain/messages/views.h"
#include "launcher/core/memory/notes.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// The events in the order of time; only those at `since` or later.
std::vector<JobEvent> events_of(const State& state, const Job& job, const Notes& notes,
                                Instant since);

}  // namespace lockstep::launcher
