#include "launcher/api/json/pipeline.h"

#include <algorithm>

#include "common/domain/job/pipeline.h"
#include "launcher/api/json/value.h"
#include "launcher/api/json/why.h"

namespace lockstep::api {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json step_json(const StepView& step) {
  const bool reused = step.phase == StepPhase::reused;
  Json json;
  json["name"] = step.name;
  json["phase"] = std::string(to_string(step.phase));
  json["status"] = step.status ? Json(std::string(to_string(*step.status))) : Json(nullptr);
  json["job"] = reused ? Json(nullptr) : text_or_null(step.job.value);
  json["reused_from"] = reused ? Json(step.job.value) : Json(nullptr);
  json["reason"] = step.reason;
  json["reason_data"] = reason_json(step.why);
  json["compute"] = text_or_null(step.compute);
  json["after"] = step.after;
  json["started_at"] = time_or_null(step.started);
  json["ended_at"] = time_or_null(step.ended);
  return json;
}

void add_merged(const JobView& job, const std::string& name, Json& json) {
  const auto merged = std::find_if(job.merged.begin(), job.merged.end(),
                                   [&](const MergedOutput& one) { return one.name == name; });
  if (merged == job.merged.end()) return;
  json["digest"] = merged->tree ? Json(merged->tree->hex()) : Json(nullptr);
  json["file"] = text_or_null(merged->file);
  json["problems"] = merged->problems;
  json["registered_as"] = text_or_null(merged->registered);
}

// Null keys as far as they have no meaning in its state.
void add_write(const JobView& job, const std::string& name, Json& json) {
  const auto found = std::find_if(job.writes.begin(), job.writes.end(),
                                  [&](const OutputWrite& one) { return one.output == name; });
  if (found == job.writes.end()) return;
  const bool waits = found->state == OutputWrite::State::waiting;
  json["written"] = {{"to", found->to},
                     {"state", std::string(to_string(found->state))},
                     {"at", waits ? Json(nullptr) : time_or_null(found->at)},
                     {"failed_tries", found->tries},
                     {"reason", text_or_null(found->why)},
                     {"reason_data", reason_json(found->why_data)},
                     {"again_at", waits ? time_or_null(found->at) : Json(nullptr)}};
}

}  // namespace

Json steps_of(const JobView& job) {
  if (job.steps.empty()) return nullptr;
  Json json = Json::object();
  for (const StepView& step : job.steps) add_new(json, step.name, step_json(step));
  return json;
}

Json outputs_of(const JobView& job) {
  Json json = Json::object();
  for (const OutputSpec& output : job.spec.outputs) {
    Json one = {
        {"type", std::string(type_word(output))},
        {"mode", std::string(to_string(output.mode))},
        {"path", output.path.empty() ? Json(nullptr) : Json(output.path)},
        {"name", output.asset ? Json(output.asset->name) : Json(nullptr)},
        {"version", output.asset && !output.asset->version.empty() ? Json(output.asset->version)
                                                                   : Json(nullptr)}};
    add_merged(job, output.name, one);
    add_write(job, output.name, one);
    add_new(json, output.name, std::move(one));
  }
  if (!job.spec.pipeline) return json;
  for (const PipelineOutput& output : job.spec.pipeline->outputs) {
    Json one = {{"step", output.step}, {"output", output.output}};
    add_merged(job, output.name, one);
    json[output.name] = std::move(one);
  }
  return json;
}

}  // namespace lockstep::api
