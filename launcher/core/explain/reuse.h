#pragma once
// Explains whose outputs a pipeline's step reuses, or why the step ran although the same step had
// completed before. It names the trees of files that differ, and reads no file.

#include <functional>
#include <optional>
#include <vector>

#include "common/domain/messages/views.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

struct ReuseExplained {
  std::vector<Why> lines;          // empty if the job is neither a pipeline nor the job of a step
  std::optional<RerunView> rerun;  // why the step ran again; then why_again() is the last line
};

// Explains the reuse. `reads` tells whether the caller may read a job. Differences from a job that
// the caller may not read are left out.
ReuseExplained explain_reuse(const State& state, const Job& job,
                             const std::function<bool(const Job&)>& reads);

Why why_again(const RerunView& rerun);

}  // namespace lockstep::launcher
