#include "launcher/sweeps/trial_job.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "common/base/trimmed.h"

namespace lockstep::sweeps {
namespace {

constexpr std::string_view kBegin = "${{";
constexpr std::string_view kEnd = "}}";
constexpr std::string_view kGroup = "search_space.";
constexpr std::size_t kMostFilledBytes = 1u << 20;

using ValuesByName = std::map<std::string_view, std::string_view>;

class Filling {
 public:
  explicit Filling(const TrialParameters& parameters) {
    for (const TrialParameter& parameter : parameters)
      values_.emplace(parameter.name, parameter.value.text);
  }

  // In one pass: an expression in a value stays as it is.
  Status fill(std::string* text) const {
    std::string filled;
    std::string_view rest = *text;
    for (auto begin = rest.find(kBegin); begin != rest.npos; begin = rest.find(kBegin)) {
      const auto end = rest.find(kEnd, begin);
      if (end == rest.npos) break;
      const auto* value = value_of(rest.substr(begin + kBegin.size(), end - begin - kBegin.size()));
      const auto next = value == nullptr ? begin + kBegin.size() : end + kEnd.size();
      filled += rest.substr(0, value == nullptr ? next : begin);
      if (value != nullptr) filled += *value;
      rest.remove_prefix(next);
      if (filled.size() > kMostFilledBytes) return too_long();
    }
    filled += rest;
    if (filled.size() > kMostFilledBytes) return too_long();
    *text = std::move(filled);
    return {};
  }

  const ValuesByName& values() const { return values_; }

 private:
  static Error too_long() {
    return make_error(ErrorCode::resource_exhausted,
                      "the trial's command or variables have more than 1 MiB with its values; "
                      "choose shorter values, or write them into files");
  }

  const std::string_view* value_of(std::string_view expression) const {
    expression = trimmed(expression);
    if (!expression.starts_with(kGroup)) return nullptr;
    const auto found = values_.find(expression.substr(kGroup.size()));
    return found == values_.end() ? nullptr : &found->second;
  }

  ValuesByName values_;
};

Status fill_command(const Filling& filling, Command* command) {
  if (auto* shell = std::get_if<ShellCommand>(command)) return filling.fill(&shell->text);
  for (std::string& word : std::get<Argv>(*command).words) TRY(filling.fill(&word));
  return {};
}

}  // namespace

std::string trial_name(std::size_t trial) { return std::to_string(trial); }

Result<JobSpec> trial_job(const JobSpec& sweep, std::size_t trial,
                          const TrialParameters& parameters) {
  JobSpec job = sweep;
  job.sweep = {};
  job.name.clear();
  job.parent = {};
  job.step.clear();
  const Filling filling(parameters);
  TRY(fill_command(filling, &job.command));
  for (auto* texts : {&job.environment_variables, &job.inputs})
    for (auto& [name, text] : *texts) TRY(filling.fill(&text));
  for (const auto& [name, value] : filling.values())
    job.environment_variables.emplace(fmt::format("AZUREML_SWEEP_{}", name), value);
  job.environment_variables.emplace("LOCKSTEP_TRIAL", trial_name(trial));
  TRY(validate(job));
  return job;
}

}  // namespace lockstep::sweeps
