#pragma once
// For people: whose outputs a pipeline's step reuses, or why it ran although a job of the same step
// had completed before. It says which trees of files differ, and reads none.

#include <functional>
#include <string>
#include <vector>

#include "common/domain/views.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

struct ReuseExplained {
  std::vector<std::string> lines;  // empty if the job is neither a pipeline nor of a step
  std::optional<RerunView> rerun;  // why it ran again; then rerun_line() is the last line
};

// `reads`: whether the caller may read a job. What differs from one that they may not read is not
// told.
ReuseExplained explain_reuse(const State& state, const Job& job,
                             const std::function<bool(const Job&)>& reads);

// "rerun because input 'data' changed: 3 files, first train.csv (since job 'p_b')".
std::string rerun_line(const RerunView& rerun);

}  // namespace lockstep::launcher
