#pragma once
// The events of a job as people read them: those of its facts, and the notes.

#include <vector>

#include "common/domain/messages/views.h"
#include "launcher/core/memory/notes.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// Facts' events and notes, merged in order; only those at `since` or later.
std::vector<JobEvent> events_of(const State& state, const Job& job, const Notes& notes,
                                Instant since);

}  // namespace lockstep::launcher
