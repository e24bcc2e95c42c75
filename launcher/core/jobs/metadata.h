#pragma once
// A job's metadata, which people may change at any time and no rule of the core reads: whether
// lists leave it out, its display name, description, experiment and tags
// (docs/decisions/056-archiving-and-updating-jobs.md).

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// A step is archived with its pipeline.
bool is_archived(const State& state, const Job& job);

void react(Context& core, const ArchiveJobInput& input);
void react(Context& core, const AnnotateJobInput& input);

}  // namespace lockstep::launcher
