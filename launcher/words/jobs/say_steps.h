#pragma once
// The texts of pipelines: what a pipeline waits for, and why a step waits or was not run.

#include <string>

#include "common/domain/why/jobs/steps.h"

namespace lockstep::words {

std::string say(const WaitsForSteps& reason);
std::string say(const WaitsForStepsToStop& reason);
std::string say(const StepWasNotRun& reason);
std::string say(const StepEndedBadly& reason);
std::string say(const WaitsForStep& reason);
std::string say(const WaitsForOnInit& reason);
std::string say(const WaitsForOtherSteps& reason);
std::string say(const TooManyStepsRun& reason);
std::string say(const NeedsFailedStep& reason);
std::string say(const NeedsSkippedStep& reason);
std::string say(const NeedsStepThatWasNotRun& reason);
std::string say(const EndsWithFailedStep& reason);
std::string say(const PipelineWasCanceled& reason);
std::string say(const InputWasNotWritten& reason);
std::string say(const InputWasNotKept& reason);
std::string say(const InputIsAFolder& reason);
std::string say(const UserMayNotSubmit& reason);
std::string say(const TargetWasDeleted& reason);

}  // namespace lockstep::words
