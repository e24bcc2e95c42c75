#include "launcher/cli/text/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/domain/job/pipeline.h"
#include "launcher/api/json/job.h"
#include "launcher/cli/terminal/output.h"

namespace lockstep::cli {

namespace {

// A step, or a job that is not a step.
struct PlannedStep {
  std::string name;
  const JobSpec* spec = nullptr;
  const PipelineStep* step = nullptr;  // nullptr: the job is a command
  const std::optional<std::string>* code = nullptr;
  const std::optional<spec::EnvironmentReference>* environment = nullptr;
  std::vector<std::string> waits_for;
};

std::vector<std::string> names_of(const PipelineSpec& pipeline, StepRole role) {
  std::vector<std::string> names;
  for (const PipelineStep& step : pipeline.steps)
    if (step.role == role) names.push_back(step.name);
  return names;
}

// The names of the steps that must end before this one starts, each once. Steps of on_init and
// on_finalize have no other bindings.
std::vector<std::string> waits_of(const PipelineStep& step, const std::vector<std::string>& first,
                                  const std::vector<std::string>& main) {
  if (step.role == StepRole::on_init) return {};
  std::vector<std::string> names = first;
  if (step.role == StepRole::on_finalize) names.insert(names.end(), main.begin(), main.end());
  for (const StepBinding& binding : step.bindings)
    if (std::find(names.begin(), names.end(), binding.step) == names.end())
      names.push_back(binding.step);
  return names;
}

std::vector<PlannedStep> steps_of(const spec::JobFile& job) {
  std::vector<PlannedStep> steps;
  if (!job.spec.pipeline)
    return {{job.spec.name, &job.spec, nullptr, &job.code_dir, &job.environment, {}}};
  const PipelineSpec& pipeline = *job.spec.pipeline;
  const auto first = names_of(pipeline, StepRole::on_init);
  const auto main = names_of(pipeline, StepRole::main);
  for (std::size_t i = 0; i < pipeline.steps.size(); ++i) {
    const PipelineStep& step = pipeline.steps[i];
    steps.push_back({step.name, &step.spec, &step, &job.steps[i].code_dir,
                     &job.steps[i].environment, waits_of(step, first, main)});
  }
  return steps;
}

std::string_view word_of(StepRole role) {
  switch (role) {
    case StepRole::main: return "main";
    case StepRole::on_init: return "on_init";
    case StepRole::on_finalize: return "on_finalize";
  }
  return "main";
}

// The keys that describe the job, without its outcome.
Json job_json(const JobSpec& spec) {
  JobView view;
  view.spec = spec;
  Json all = api::to_json(view);
  Json json = Json::object();
  for (const char* key : {"display_name", "experiment_name", "description", "tags", "command",
                          "compute", "environment", "environment_variables", "inputs", "outputs",
                          "distribution", "resources", "limits", "queue_settings"})
    json[key] = std::move(all[key]);
  return json;
}

Json step_json(const PlannedStep& planned) {
  Json json;
  json["name"] = planned.name;
  json["role"] = planned.step == nullptr ? "main" : std::string(word_of(planned.step->role));
  json["waits_for"] = planned.waits_for;
  json["bindings"] = Json::object();
  if (planned.step != nullptr)
    for (const StepBinding& binding : planned.step->bindings)
      json["bindings"][binding.input] = {{"step", binding.step}, {"output", binding.output}};
  json["reuse"] = planned.step != nullptr && planned.step->reuse;
  json["code"] = *planned.code ? Json(**planned.code) : Json(nullptr);
  json["environment_name"] =
      *planned.environment ? Json((*planned.environment)->text) : Json(nullptr);
  json["job"] = job_json(*planned.spec);
  return json;
}

std::string command_of(const Command& command) {
  if (const auto* shell = std::get_if<ShellCommand>(&command)) return in_one_line(shell->text);
  return in_one_line(shell_words(std::get<Argv>(command).words));
}

std::string environment_of(const PlannedStep& planned) {
  if (*planned.environment) return (*planned.environment)->text;
  const auto& environment = planned.spec->environment;
  if (!environment) return "-";
  if (const auto* docker = std::get_if<DockerEnvironment>(&environment->definition))
    if (!docker->image.empty()) return docker->image;
  return environment->name.empty() ? std::string(provider_of(environment->definition))
                                   : environment->name;
}

std::vector<std::string> row_of(const PlannedStep& planned) {
  const JobSpec& spec = *planned.spec;
  const std::size_t shown = std::min<std::size_t>(planned.waits_for.size(), 3);
  std::string waits = fmt::format(
      "{}", fmt::join(planned.waits_for.begin(), planned.waits_for.begin() + shown, ", "));
  if (shown < planned.waits_for.size())
    waits += fmt::format(" and {} more", planned.waits_for.size() - shown);
  return {planned.name.empty() ? "-" : planned.name,
          spec.compute.empty() ? "local" : spec.compute,
          std::to_string(spec.resources.instance_count),
          std::to_string(spec.world_size()),
          waits.empty() ? "-" : waits,
          environment_of(planned),
          command_of(spec.command)};
}

}  // namespace

Json plan_json(const std::string& file, const spec::JobFile& job) {
  Json json;
  json["file"] = file;
  json["type"] = job.spec.is_pipeline() ? "pipeline" : "command";
  json["name"] = job.spec.name.empty() ? Json(nullptr) : Json(job.spec.name);
  json["continue_on_step_failure"] =
      job.spec.pipeline ? Json(job.spec.pipeline->continue_on_step_failure) : Json(nullptr);
  json["job"] = job_json(job.spec);
  json["outputs"] = Json::object();
  if (job.spec.pipeline)
    for (const PipelineOutput& output : job.spec.pipeline->outputs)
      json["outputs"][output.name] = {{"step", output.step}, {"output", output.output}};
  json["steps"] = Json::array();
  for (const PlannedStep& step : steps_of(job)) json["steps"].push_back(step_json(step));
  json["notes"] = job.notes;
  return json;
}

std::string plan_text(const spec::JobFile& job) {
  Table table({"STEP", "COMPUTE", "NODES", "RANKS", "WAITS FOR", "ENVIRONMENT", "RUNS"});
  for (const PlannedStep& step : steps_of(job)) table.add(row_of(step));
  return table.text();
}

}  // namespace lockstep::cli
