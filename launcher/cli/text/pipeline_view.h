#pragma once
// A pipeline for people: its record, the tree of its steps, and the ends of steps that did not
// complete. Pure.

#include <cstddef>
#include <optional>
#include <string>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// "3/20 steps": how many are over. "pipeline": the view is of a list and has no steps.
std::string steps_shape(const JobView& job);

// "2 Completed, 1 Reused, 3 Running, 14 Waiting".
std::string steps_summary(const std::vector<StepView>& steps);

// The state of a step in one word: its phase, or the status of its job while that goes on.
std::string step_state(const StepView& step);

// The most steps that a terminal shows; of more, those that run, failed or wait come first.
inline constexpr std::size_t kMostStepsShown = 40;

struct StepsShown {
  bool all = true;  // false: shows at most kMostStepsShown, and counts of the others
  std::optional<std::size_t> columns;  // the width of the terminal, to which reasons are cut
};
// The record and the tree; steps of nested pipelines stand below the pipeline's name.
std::string pipeline_text(const JobView& job, Instant now, const StepsShown& shown);

// The step whose failure is the pipeline's; null: none failed.
const StepView* first_failed_step(const JobView& job);

// The lines of a failed pipeline's report about its other steps: one for each that failed, and one
// for each reason why steps were not run.
std::string other_steps_report(const JobView& job);

}  // namespace lockstep::cli
