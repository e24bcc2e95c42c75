#pragma once
// What a sweep does next: a pure function of its spec, of what it has done and of the time. The
// launcher's core asks it after each change of a trial, after each value of the primary metric, and
// at the deadline; what it answers become facts, and asking again before they are gives the same
// answer. So a launcher that starts again goes on as if it had not stopped.

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "common/base/time.h"
#include "common/domain/sweep.h"
#include "launcher/sweeps/early_termination.h"
#include "launcher/sweeps/progress.h"
#include "launcher/sweeps/suggestions.h"

namespace lockstep::sweeps {

// After so many failures of the helper in a row a sweep gets no further suggestions.
inline constexpr int kMaxFailedAsks = 3;

using StopWhy = std::variant<EarlyStop, SweepEnding>;
struct TrialStop {
  std::size_t trial = 0;
  StopWhy why;
};

struct SweepOutcome {
  enum class Verdict { completed, failed, canceled };
  Verdict verdict = Verdict::completed;
  std::optional<SweepEnding> ending = std::nullopt;  // nullopt: all trials had their turn
  std::optional<std::size_t> best = std::nullopt;    // its outputs are the sweep's
};

struct SweepStep {
  std::vector<TrialParameters> start;    // trials progress.trials.size(), + 1, …
  std::vector<TrialStop> stop;           // cancel their jobs; they become `stopping`
  std::optional<SuggestionRequest> ask;  // of the helper; adds its count to progress.asked
  std::optional<SweepEnding> ending;     // becomes progress.ending
  std::optional<SweepOutcome> outcome;   // the sweep is over
  Instant deadline = Instant::never();   // ask again then
};

SweepStep next(const SweepSpec& sweep, const SweepProgress& progress, Instant now);

}  // namespace lockstep::sweeps
