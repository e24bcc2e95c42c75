#include "launcher/cli/text/differences/job_difference.h"

#include <fmt/format.h>

#include "common/domain/job/pipeline.h"
#include "launcher/api/json/job.h"

namespace lockstep::cli {

namespace {

// The keys that a person sets. Of `lockstep`, those that name the job, its step or its owner are
// left out.
constexpr const char* kCompared[] = {
    "type",    "compute",      "command",   "environment", "environment_variables",
    "inputs",  "distribution", "resources", "limits",      "queue_settings",
    "lockstep"};
constexpr const char* kOwn[] = {"snapshot", "compute_why", "compute_why_data", "shared", "parent",
                                "step",     "after",       "not_before"};

Json results_of(const JobView& job, const Json& json) {
  Json results;
  for (const char* key : {"status", "exit_code", "restarts"}) results[key] = json[key];
  results["cause"] = job.report ? json["report"]["cause"] : Json(nullptr);
  const bool has_run = !job.attempts.empty() && job.ended > job.attempts.back().started;
  results["seconds"] =
      has_run ? Json(std::chrono::duration<double>(job.ended - job.attempts.back().started).count())
              : Json(nullptr);
  Json outputs = Json::object();
  if (!job.attempts.empty())
    for (const PartView& part : job.attempts.back().parts)
      for (const CollectedOutput& output : part.outputs) {
        const bool is_named = output.kind == OutputKind::named;
        if (!output.tree || (!is_named && output.kind != OutputKind::outputs)) continue;
        outputs[fmt::format("{}@{}", is_named ? output.name : "outputs", part.node_rank)] =
            output.tree->hex();
      }
  if (job.spec.pipeline)
    for (const MergedOutput& output : job.merged)
      if (output.tree) outputs[output.name] = output.tree->hex();
  results["outputs"] = std::move(outputs);
  return results;
}

Json compared(const JobView& job) {
  const Json json = api::to_json(job);
  Json all;
  for (const char* key : kCompared) all[key] = json[key];
  for (const char* key : kOwn) all["lockstep"].erase(key);
  Json outputs = Json::object();
  for (const auto& [name, output] : json["outputs"].items())
    for (const char* key : {"type", "mode", "step", "output"})
      if (output.contains(key)) outputs[name][key] = output[key];
  all["outputs"] = std::move(outputs);
  if (job.spec.pipeline)
    all["settings"] = {{"continue_on_step_failure", job.spec.pipeline->continue_on_step_failure}};
  all["results"] = results_of(job, json);
  return all;
}

void collect(const std::string& key, const Json& a, const Json& b,
             std::vector<FieldDifference>& all) {
  if (a == b) return;
  if (!a.is_object() || !b.is_object()) {
    all.push_back({key, a, b});
    return;
  }
  const auto below = [&](const std::string& name) { return key.empty() ? name : key + "." + name; };
  for (const auto& [name, value] : a.items())
    collect(below(name), value, b.contains(name) ? b[name] : Json(), all);
  for (const auto& [name, value] : b.items())
    if (!a.contains(name)) collect(below(name), Json(), value, all);
}

}  // namespace

std::vector<FieldDifference> differences_of(const JobView& a, const JobView& b) {
  std::vector<FieldDifference> all;
  collect("", compared(a), compared(b), all);
  return all;
}

CodeDifference differences_of(const std::vector<LeftFile>& a, const std::vector<LeftFile>& b) {
  CodeDifference code;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->path < right->path)) {
      code.removed.push_back((left++)->path);
    } else if (left == a.end() || right->path < left->path) {
      code.added.push_back((right++)->path);
    } else {
      if (left->entry != right->entry) code.changed.push_back(left->path);
      ++left;
      ++right;
    }
  }
  return code;
}

}  // namespace lockstep::cli
