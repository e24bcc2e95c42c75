#pragma once
// Whose outputs a pipeline's step reuses, or why it ran although a job of the same step
// had completed before. It says which trees of files differ, and reads none.

#include <functional>
#include <optional>
#include <vector>

#include "common/domain/messages/views.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

struct ReuseExplained {
  std::vector<Why> lines;          // empty if the job is neither a pipeline nor of a step
  std::optional<RerunView> rerun;  // why it ran again; then why_again() is the last line
};

// `reads`: whether the caller may read a job. What differs from one that they may not read is not
// told.
ReuseExplained explain_reuse(const State& state, const Job& job,
                             const std::function<bool(const Job&)>& reads);

Why why_again(const RerunView& rerun);

}  // namespace lockstep::launcher
