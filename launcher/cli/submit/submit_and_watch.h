#pragma once
// The common end of the verbs that submit a job: `run`, `job create`, `job resume` and
// `environment prepare`.

#include <functional>

#include "launcher/cli/base/verb_context.h"
#include "launcher/cli/follow/watch.h"
#include "launcher/cli/submit/submit.h"

namespace lockstep::cli {

using SayRefusal = std::function<void(const Error&)>;

// Submits the job. If its end is waited for (`submission.waits`), follows it as `watch` says, and
// returns its exit code; else prints its name or record. `watch.world_size` and
// `watch.leave_in_vain` follow from the submission. The exit code of a refusal is 1 if the job
// would wait in vain for nodes, else `otherwise`; `say` prints it (empty: as `fail` does).
int submit_and_watch(Context& context, Connection& connection, Submission submission,
                     WatchOptions watch, int otherwise, const SayRefusal& say = {});

}  // namespace lockstep::cli
