#include "common/domain/job_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "common/base/match.h"
#include "common/base/utf8.h"
#include "common/domain/asset.h"
#include "common/domain/pipeline.h"

namespace lockstep {
namespace {

Error bad_schedule(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

bool is_of_names(char c, bool is_first) {
  const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return is_word || (!is_first && (c == '_' || c == '-'));
}

void replace_in_own_texts(JobSpec& job, const Replacements& replacements) {
  std::visit(Match{[&](ShellCommand& shell) { shell.text = replaced(shell.text, replacements); },
                   [&](Argv& argv) {
                     for (std::string& word : argv.words) word = replaced(word, replacements);
                   }},
             job.command);
  for (auto& [name, value] : job.environment_variables) value = replaced(value, replacements);
  for (auto& [name, value] : job.inputs) value = replaced(value, replacements);
}

}  // namespace

std::string_view to_string(Overlap overlap) {
  switch (overlap) {
    case Overlap::allow: return "allow";
    case Overlap::queue: return "queue";
    case Overlap::forbid: return "forbid";
  }
  return "?";
}

std::optional<Overlap> overlap_from(std::string_view word) {
  for (const Overlap overlap : kOverlaps)
    if (to_string(overlap) == word) return overlap;
  return std::nullopt;
}

std::string_view to_string(FiringCause cause) {
  switch (cause) {
    case FiringCause::time: return "time";
    case FiringCause::person: return "person";
  }
  return "?";
}

Status validate_schedule_name(const std::string& name) {
  bool is_good = !name.empty() && name.size() <= kMaxScheduleNameBytes;
  for (std::size_t i = 0; i < name.size() && is_good; ++i) is_good = is_of_names(name[i], i == 0);
  if (is_good) return {};
  return bad_schedule(
      fmt::format("name: '{}' cannot be the name of a schedule: it needs 1 to {} letters, digits, "
                  "'_' and '-', and begins with a letter or a digit",
                  head(name, 100), kMaxScheduleNameBytes));
}

Status check(const JobSchedule& schedule) {
  TRY(validate_schedule_name(schedule.name));
  if (schedule.display_name.size() > kMaxJobNameBytes)
    return bad_schedule(fmt::format("display_name: has {} bytes; at most {} are possible",
                                    schedule.display_name.size(), kMaxJobNameBytes));
  TRY(validate_texts(schedule.description, schedule.tags));
  return check(schedule.trigger);
}

bool fires_when_created(const JobSchedule& schedule) {
  const auto* recurrence = std::get_if<Recurrence>(&schedule.trigger.when);
  return recurrence != nullptr && !schedule.trigger.start_time && !has_times(*recurrence);
}

std::string replaced(std::string_view text, const Replacements& replacements) {
  std::string result;
  while (!text.empty()) {
    const auto here = std::find_if(replacements.begin(), replacements.end(), [&](const auto& one) {
      return !one.first.empty() && text.starts_with(one.first);
    });
    if (here == replacements.end()) {
      result += text.front();
      text.remove_prefix(1);
    } else {
      result += here->second;
      text.remove_prefix(here->first.size());
    }
  }
  return result;
}

void replace_in_texts(JobSpec& job, const Replacements& replacements) {
  replace_in_own_texts(job, replacements);
  if (!job.pipeline) return;
  PipelineSpec pipeline = *job.pipeline;
  for (PipelineStep& step : pipeline.steps) replace_in_own_texts(step.spec, replacements);
  job.pipeline = SharedPipeline(std::move(pipeline));
}

}  // namespace lockstep
