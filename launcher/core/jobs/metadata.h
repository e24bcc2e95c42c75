#pragma once
// A job's metadata, which people may change at any time and no decision of the core reads: whether
// lists leave it out, and its display name, description, experiment and tags
// (docs/decisions/056-archiving-and-updating-jobs.md).

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// True also for a step whose pipeline is archived.
bool is_archived(const State& state, const Job& job);

void react(Context& core, const ArchiveJobInput& input);
void react(Context& core, const AnnotateJobInput& input);

}  // namespace lockstep::launcher
