#include "common/domain/why/all/old_texts.h"

#include <string_view>
#include <utility>

#include "common/domain/why/all/reason.h"

namespace lockstep {

namespace {

constexpr std::string_view kOldCompleted = "completed";
constexpr std::string_view kOldUnasked = "stopped its ranks although nobody asked for it";

std::string old_unasked(const std::string& node) {
  return "node " + node + " " + std::string(kOldUnasked);
}

// "step 'train' (job p_train): rank 0 …": the text of an earlier version.
Why step_of_old(const std::string& text) {
  constexpr std::string_view kStep = "step '", kJob = "' (job ", kThen = "): ";
  if (!text.starts_with(kStep)) return {};
  const auto job = text.find(kJob), then = text.find(kThen);
  if (job == text.npos || then == text.npos || then < job) return {};
  StepEndedBadly step;
  step.step = text.substr(kStep.size(), job - kStep.size());
  step.job.value = text.substr(job + kJob.size(), then - job - kJob.size());
  step.why = told(text.substr(then + kThen.size()));
  return step;
}

// The text that the earlier version would write; "": it has none.
std::string old_text_of(const Why& end) {
  if (const auto* text = end.as<Told>()) return text->text;
  if (const auto* stopped = end.as<StoppedUnasked>()) return old_unasked(stopped->node);
  return "";
}

}  // namespace

Why end_of_old(std::string text, Cause cause, const std::string& node) {
  if (cause == Cause::completed && text == kOldCompleted) return AllRanksCompleted{};
  if (text == old_unasked(node)) return StoppedUnasked{node};
  if (Why step = step_of_old(text)) return step;
  return told(std::move(text));
}

Why retry_of_old(std::string text, const Why& end) {
  const std::string opening = old_text_of(end);
  if (opening.empty() || !text.starts_with(opening + "; ")) return told(std::move(text));
  return RetriedAfter{end, told(text.substr(opening.size() + 2))};
}

}  // namespace lockstep
