#pragma once
// What the texts of earlier versions say where a decision, or a screen, needs to know it. They are
// read once, in a codec or as an old fact is applied. A function in this file never changes: those
// versions say nothing new.

#include <string>

#include "common/domain/ranks/exit_report.h"
#include "common/domain/why/why.h"

namespace lockstep {

// Of ExitReport::message: AllRanksCompleted, StoppedUnasked (of `node`), StepEndedBadly; of other
// texts, Told.
Why end_of_old(std::string text, Cause cause, const std::string& node);

// Of JobRequeued::why and AttemptView::retried, which open with how the attempt had `end`ed:
// RetriedAfter; Told, if the text does not.
Why retry_of_old(std::string text, const Why& end);

}  // namespace lockstep
