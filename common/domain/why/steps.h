#pragma once
// Of a pipeline: what it waits for, why a step waits, and why one was not run.

#include <string>

#include "common/base/ids.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- the pipeline -------------------------------------------------------------------------------

struct WaitsForSteps {
  static constexpr std::string_view kCode = "waits_for_steps";
  int running = 0, queued = 0, waiting = 0;
  std::string failed_step;  // the first; "": none failed
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("running", self.running);
    see("queued", self.queued);
    see("waiting", self.waiting);
    see("failed_step", self.failed_step);
  }
  friend bool operator==(const WaitsForSteps&, const WaitsForSteps&) = default;
};

struct WaitsForStepsToStop {
  static constexpr std::string_view kCode = "waits_for_steps_to_stop";
  int steps = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("steps", self.steps);
  }
  friend bool operator==(const WaitsForStepsToStop&, const WaitsForStepsToStop&) = default;
};

struct StepWasNotRun {  // and no step of the pipeline failed
  static constexpr std::string_view kCode = "step_not_run";
  std::string step;
  Why why = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("why", self.why);
  }
  friend bool operator==(const StepWasNotRun&, const StepWasNotRun&) = default;
};

struct StepEndedBadly {  // the first of the pipeline
  static constexpr std::string_view kCode = "step_failed";
  std::string step;
  JobId job = {};
  Why why = {};  // how that job ended
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("job", self.job);
    see("why", self.why);
  }
  friend bool operator==(const StepEndedBadly&, const StepEndedBadly&) = default;
};

// ---- a step that waits --------------------------------------------------------------------------

struct WaitsForStep {
  static constexpr std::string_view kCode = "waits_for_step";
  std::string step;  // the first of them
  int more = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("more", self.more);
  }
  friend bool operator==(const WaitsForStep&, const WaitsForStep&) = default;
};

struct WaitsForOnInit {
  static constexpr std::string_view kCode = "waits_for_on_init";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const WaitsForOnInit&, const WaitsForOnInit&) = default;
};

struct WaitsForOtherSteps {  // the step of on_finalize
  static constexpr std::string_view kCode = "waits_for_other_steps";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const WaitsForOtherSteps&, const WaitsForOtherSteps&) = default;
};

struct TooManyStepsRun {
  static constexpr std::string_view kCode = "too_many_steps_run";
  int most = 0;  // that run at the same time
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("most", self.most);
  }
  friend bool operator==(const TooManyStepsRun&, const TooManyStepsRun&) = default;
};

// ---- a step that is not run ---------------------------------------------------------------------

// How it needs another step: that one's output is its input. Both "": on_init is before all.
struct StepLink {
  std::string output, input;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("output", self.output);
    see("input", self.input);
  }
  friend bool operator==(const StepLink&, const StepLink&) = default;
};

struct NeedsFailedStep {
  static constexpr std::string_view kCode = "needs_failed_step";
  std::string step;
  StepLink link;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("link", self.link);
  }
  friend bool operator==(const NeedsFailedStep&, const NeedsFailedStep&) = default;
};

struct NeedsSkippedStep {
  static constexpr std::string_view kCode = "needs_skipped_step";
  std::string step;
  StepLink link;
  std::string first;  // the step because of which `step` was not run; "": there is none
  Why why;            // `first`, or else `step`, was not run; none: `first` failed
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("link", self.link);
    see("first", self.first);
    see("why", self.why);
  }
  friend bool operator==(const NeedsSkippedStep&, const NeedsSkippedStep&) = default;
};

struct NeedsStepThatWasNotRun {  // nobody knows which
  static constexpr std::string_view kCode = "needs_step_that_was_not_run";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NeedsStepThatWasNotRun&, const NeedsStepThatWasNotRun&) = default;
};

struct EndsWithFailedStep {  // continue_on_step_failure is false
  static constexpr std::string_view kCode = "ends_with_failed_step";
  std::string step;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
  }
  friend bool operator==(const EndsWithFailedStep&, const EndsWithFailedStep&) = default;
};

struct PipelineWasCanceled {
  static constexpr std::string_view kCode = "pipeline_was_canceled";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const PipelineWasCanceled&, const PipelineWasCanceled&) = default;
};

struct InputWasNotWritten {
  static constexpr std::string_view kCode = "input_was_not_written";
  std::string step;
  JobId job;
  StepLink link;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("job", self.job);
    see("link", self.link);
  }
  friend bool operator==(const InputWasNotWritten&, const InputWasNotWritten&) = default;
};

struct InputWasNotKept {
  static constexpr std::string_view kCode = "input_was_not_kept";
  std::string step;
  JobId job;
  StepLink link;
  std::string text;  // the output's first problem
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("job", self.job);
    see("link", self.link);
    see("text", self.text);
  }
  friend bool operator==(const InputWasNotKept&, const InputWasNotKept&) = default;
};

struct InputIsAFolder {  // and not a uri_file
  static constexpr std::string_view kCode = "input_is_a_folder";
  std::string step;
  StepLink link;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("link", self.link);
  }
  friend bool operator==(const InputIsAFolder&, const InputIsAFolder&) = default;
};

struct UserMayNotSubmit {  // into the pipeline's project, any more
  static constexpr std::string_view kCode = "user_may_not_submit";
  std::string user;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("user", self.user);
  }
  friend bool operator==(const UserMayNotSubmit&, const UserMayNotSubmit&) = default;
};

struct TargetWasDeleted {
  static constexpr std::string_view kCode = "target_was_deleted";
  std::string target;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("target", self.target);
  }
  friend bool operator==(const TargetWasDeleted&, const TargetWasDeleted&) = default;
};

using StepReasons =
    List<WaitsForSteps, WaitsForStepsToStop, StepWasNotRun, StepEndedBadly, WaitsForStep,
         WaitsForOnInit, WaitsForOtherSteps, TooManyStepsRun, NeedsFailedStep, NeedsSkippedStep,
         NeedsStepThatWasNotRun, EndsWithFailedStep, PipelineWasCanceled, InputWasNotWritten,
         InputWasNotKept, InputIsAFolder, UserMayNotSubmit, TargetWasDeleted>;

}  // namespace lockstep
