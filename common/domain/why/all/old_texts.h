#pragma once
// Reads texts of earlier versions where a decision or a screen needs their content. A codec, or the
// step that applies an old fact, calls these functions once. A function in this file never changes,
// since those versions write no new texts.

#include <string>

#include "common/domain/ranks/exit_report.h"
#include "common/domain/why/why.h"

namespace lockstep {

// Reads ExitReport::message: AllRanksCompleted, StoppedUnasked (with `node`) or StepEndedBadly;
// Told for other texts.
Why end_of_old(std::string text, Cause cause, const std::string& node);

// Reads JobRequeued::why and AttemptView::retried, which begin with the attempt's `end`:
// RetriedAfter; Told for other texts.
Why retry_of_old(std::string text, const Why& end);

}  // namespace lockstep
