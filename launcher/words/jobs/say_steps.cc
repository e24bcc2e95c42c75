#include "launcher/words/jobs/say_steps.h"

#include <fmt/format.h>

#include "launcher/words/counted_noun.h"
#include "launcher/words/job_text.h"
#include "launcher/words/why.h"

namespace lockstep::words {

namespace {

std::string counted_steps(int count) { return counted(static_cast<std::size_t>(count), "step"); }

std::string link_text(const StepLink& link) {
  if (link.output.empty() && link.input.empty()) return "";
  return fmt::format(", whose output '{}' is its input '{}'", link.output, link.input);
}

}  // namespace

// "2 steps run, 1 step is queued, 3 steps wait".
std::string say(const WaitsForSteps& reason) {
  std::string text;
  const auto add = [&](int count, std::string_view one, std::string_view many) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counted_steps(count),
                        count == 1 ? one : many);
  };
  add(reason.running, "runs", "run");
  add(reason.queued, "is queued", "are queued");
  add(reason.waiting, "waits", "wait");
  if (!reason.failed_step.empty()) text += fmt::format("; step '{}' failed", reason.failed_step);
  return text;
}

std::string say(const WaitsForStepsToStop& reason) {
  return fmt::format("waits for {} to stop", counted_steps(reason.steps));
}

std::string say(const StepWasNotRun& reason) {
  return fmt::format("step '{}' was not run: {}", reason.step, text_of(reason.why));
}

std::string say(const StepEndedBadly& reason) {
  return fmt::format("step '{}' ({}): {}", reason.step, unquoted_job_text(reason.job),
                     text_of(reason.why));
}

// "waits for prepare and 2 more steps".
std::string say(const WaitsForStep& reason) {
  std::string text = "waits for " + reason.step;
  if (reason.more > 0)
    text += " and " + counted(static_cast<std::size_t>(reason.more), "more step");
  return text;
}

std::string say(const WaitsForOnInit&) { return "waits for the step of on_init"; }

std::string say(const WaitsForOtherSteps&) { return "waits until all other steps are over"; }

std::string say(const TooManyStepsRun& reason) {
  return fmt::format("waits until fewer than {} run", counted_steps(reason.most));
}

std::string say(const NeedsFailedStep& reason) {
  return fmt::format("step '{}' failed{}", reason.step, link_text(reason.link));
}

// Also names the first failed step, since that is the one to examine.
std::string say(const NeedsSkippedStep& reason) {
  const std::string not_run =
      fmt::format("step '{}' was not run{}", reason.step, link_text(reason.link));
  if (reason.first.empty()) return fmt::format("{}: {}", not_run, text_of(reason.why));
  if (!reason.why) return fmt::format("{}, because step '{}' failed", not_run, reason.first);
  return fmt::format("{}, because step '{}' was not run: {}", not_run, reason.first,
                     text_of(reason.why));
}

std::string say(const NeedsStepThatWasNotRun&) { return "a step that it needs was not run"; }

std::string say(const EndsWithFailedStep& reason) {
  return fmt::format("step '{}' failed, and continue_on_step_failure is false", reason.step);
}

std::string say(const PipelineWasCanceled&) { return "the pipeline was canceled"; }

std::string say(const InputWasNotWritten& reason) {
  return fmt::format("step '{}' ({}) wrote nothing to its output '{}', which is the input '{}'",
                     reason.step, unquoted_job_text(reason.job), reason.link.output,
                     reason.link.input);
}

std::string say(const InputWasNotKept& reason) {
  return fmt::format("the output '{}' of step '{}' ({}), which is the input '{}', was not kept: {}",
                     reason.link.output, reason.step, unquoted_job_text(reason.job),
                     reason.link.input, reason.text);
}

std::string say(const InputIsAFolder& reason) {
  return fmt::format("its input '{}' is a uri_file, but step '{}' wrote a folder to '{}'",
                     reason.link.input, reason.step, reason.link.output);
}

std::string say(const UserMayNotSubmit& reason) {
  return fmt::format("user '{}' may no longer submit jobs into this project", reason.user);
}

std::string say(const TargetWasDeleted& reason) {
  return fmt::format("compute target '{}' was deleted", reason.target);
}

}  // namespace lockstep::words
