#pragma once
// The reasons of a pipeline: what it waits for, why a step waits, and why one was not run.

#include <string>

#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- the pipeline -------------------------------------------------------------------------------

struct WaitsForSteps {
  static constexpr std::string_view kCode = "waits_for_steps";
  int running = 0, queued = 0, waiting = 0;
  std::string failed_step;  // the first; "": none failed
  LOCKSTEP_FIELDS(WaitsForSteps, running, queued, waiting, failed_step);
};

struct WaitsForStepsToStop {
  static constexpr std::string_view kCode = "waits_for_steps_to_stop";
  int steps = 0;
  LOCKSTEP_FIELDS(WaitsForStepsToStop, steps);
};

struct StepWasNotRun {  // The step was not run, although no step failed.
  static constexpr std::string_view kCode = "step_not_run";
  std::string step;
  Why why = {};
  LOCKSTEP_FIELDS(StepWasNotRun, step, why);
};

struct StepEndedBadly {  // the first of the pipeline
  static constexpr std::string_view kCode = "step_failed";
  std::string step;
  JobId job = {};
  Why why = {};  // how that job ended
  LOCKSTEP_FIELDS(StepEndedBadly, step, job, why);
};

// ---- a step that waits --------------------------------------------------------------------------

struct WaitsForStep {
  static constexpr std::string_view kCode = "waits_for_step";
  std::string step;  // the first of them
  int more = 0;
  LOCKSTEP_FIELDS(WaitsForStep, step, more);
};

struct WaitsForOnInit {
  static constexpr std::string_view kCode = "waits_for_on_init";
  LOCKSTEP_FIELDS(WaitsForOnInit);
};

struct WaitsForOtherSteps {  // The step of on_finalize waits for others.
  static constexpr std::string_view kCode = "waits_for_other_steps";
  LOCKSTEP_FIELDS(WaitsForOtherSteps);
};

struct TooManyStepsRun {
  static constexpr std::string_view kCode = "too_many_steps_run";
  int most = 0;  // the most steps that run at the same time
  LOCKSTEP_FIELDS(TooManyStepsRun, most);
};

// ---- a step that is not run ---------------------------------------------------------------------

// How it needs another step: that one's output is its input. Both "": on_init is before all.
struct StepLink {
  std::string output, input;
  LOCKSTEP_FIELDS(StepLink, output, input);
};

struct NeedsFailedStep {
  static constexpr std::string_view kCode = "needs_failed_step";
  std::string step;
  StepLink link;
  LOCKSTEP_FIELDS(NeedsFailedStep, step, link);
};

struct NeedsSkippedStep {
  static constexpr std::string_view kCode = "needs_skipped_step";
  std::string step;
  StepLink link;
  std::string first;  // the step because of which `step` was not run; "": there is none
  Why why;            // `first`, or else `step`, was not run; none: `first` failed
  LOCKSTEP_FIELDS(NeedsSkippedStep, step, link, first, why);
};

struct NeedsStepThatWasNotRun {  // the journal does not say which step
  static constexpr std::string_view kCode = "needs_step_that_was_not_run";
  LOCKSTEP_FIELDS(NeedsStepThatWasNotRun);
};

struct EndsWithFailedStep {  // A step failed, and continue_on_step_failure is false.
  static constexpr std::string_view kCode = "ends_with_failed_step";
  std::string step;
  LOCKSTEP_FIELDS(EndsWithFailedStep, step);
};

struct PipelineWasCanceled {
  static constexpr std::string_view kCode = "pipeline_was_canceled";
  LOCKSTEP_FIELDS(PipelineWasCanceled);
};

struct InputWasNotWritten {
  static constexpr std::string_view kCode = "input_was_not_written";
  std::string step;
  JobId job;
  StepLink link;
  LOCKSTEP_FIELDS(InputWasNotWritten, step, job, link);
};

struct InputWasNotKept {
  static constexpr std::string_view kCode = "input_was_not_kept";
  std::string step;
  JobId job;
  StepLink link;
  std::string text;  // the output's first problem
  LOCKSTEP_FIELDS(InputWasNotKept, step, job, link, text);
};

struct InputIsAFolder {  // A uri_file is wanted.
  static constexpr std::string_view kCode = "input_is_a_folder";
  std::string step;
  StepLink link;
  LOCKSTEP_FIELDS(InputIsAFolder, step, link);
};

struct UserMayNotSubmit {  // into the pipeline's project, any more
  static constexpr std::string_view kCode = "user_may_not_submit";
  std::string user;
  LOCKSTEP_FIELDS(UserMayNotSubmit, user);
};

struct TargetWasDeleted {
  static constexpr std::string_view kCode = "target_was_deleted";
  std::string target;
  LOCKSTEP_FIELDS(TargetWasDeleted, target);
};

using StepReasons =
    List<WaitsForSteps, WaitsForStepsToStop, StepWasNotRun, StepEndedBadly, WaitsForStep,
         WaitsForOnInit, WaitsForOtherSteps, TooManyStepsRun, NeedsFailedStep, NeedsSkippedStep,
         NeedsStepThatWasNotRun, EndsWithFailedStep, PipelineWasCanceled, InputWasNotWritten,
         InputWasNotKept, InputIsAFolder, UserMayNotSubmit, TargetWasDeleted>;

}  // namespace lockstep
