#include "launcher/api/json/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/job/pipeline.h"
#include "common/domain/people/access.h"
#include "launcher/api/json/environment.h"
#include "launcher/api/json/found.h"
#include "launcher/api/json/job_impl.h"
#include "launcher/api/json/pipeline.h"
#include "launcher/api/json/usage.h"
#include "launcher/api/json/value.h"
#include "launcher/api/json/why.h"
#include "launcher/words/why.h"

namespace lockstep::api {

namespace {

Json command_of(const Command& command) {
  if (const auto* shell = std::get_if<ShellCommand>(&command)) return shell->text;
  Json words = Json::array();
  for (const auto& word : std::get<Argv>(command).words) words.push_back(word);
  return words;
}

Json ray_of(const RaySettings& ray) {
  Json json = {{"include_dashboard", ray.include_dashboard}};
  if (!ray.address.empty()) json["address"] = ray.address;
  if (ray.port) json["port"] = *ray.port;
  if (ray.dashboard_port) json["dashboard_port"] = *ray.dashboard_port;
  json["head_node_additional_args"] = ray.head_arguments;
  json["worker_node_additional_args"] = ray.worker_arguments;
  return json;
}

Json distribution_of(const JobSpec& spec) {
  if (spec.distribution.kind == Distribution::Kind::none &&
      spec.distribution.processes_per_node == 1)
    return nullptr;
  Json json = {{"type", std::string(to_string(spec.distribution.kind))},
               {"process_count_per_instance", spec.distribution.processes_per_node}};
  if (spec.distribution.kind == Distribution::Kind::tensorflow) {
    json["worker_count"] = spec.distribution.workers;
    json["parameter_server_count"] = spec.distribution.parameter_servers;
  }
  if (spec.distribution.kind == Distribution::Kind::ray) json.update(ray_of(spec.distribution.ray));
  return json;
}

Json asked_of(const JobSpec& spec) {
  const auto& r = spec.resources;
  Json json = Json::object();
  if (r.cpus) json["cpus"] = *r.cpus;
  if (r.memory) json["memory"] = r.memory->count;
  if (r.gpus) json["gpus"] = *r.gpus;
  return json;
}

// What stands under `resources:` in a job file.
Json resources_of(const ResourceRequest& resources) {
  Json json;
  json["instance_count"] = resources.instance_count;
  if (!resources.instance_type.empty()) json["instance_type"] = resources.instance_type;
  if (resources.shm_size) json["shm_size"] = resources.shm_size->count;
  if (!resources.docker_args.empty()) json["docker_args"] = resources.docker_args;
  return json;
}

// Literals as text, data as an object.
Json inputs_of(const JobSpec& spec) {
  Json json = map_of(spec.inputs);
  for (const DataInput& input : spec.data)
    add_new(json, input.name,
            {{"type", std::string(to_string(input.type))},
             {"mode", std::string(to_string(input.mode))},
             {"path", input.source},
             {"digest", input.tree ? Json(input.tree->hex()) : Json(nullptr)}});
  return json;
}

// As a job file has it: words and codes in one list.
Json retry_of(const RetryPolicy& retry) {
  Json on = Json::array();
  for (RetryOn word : retry.on) on.push_back(std::string(to_string(word)));
  for (int code : retry.exit_codes) on.push_back(code);
  return {{"max", retry.max},
          {"on", on},
          {"backoff", seconds_of(retry.backoff)},
          {"on_lost", std::string(to_string(retry.on_lost))}};
}

// What stands under `lockstep:` in a job file, and what we added to it.
Json ours_of(const JobSpec& spec) {
  Json json;
  json["snapshot"] = spec.snapshot ? Json(spec.snapshot->hex()) : Json(nullptr);
  json["project"] = spec.project.empty() ? std::string(kDefaultProject) : spec.project;
  json["run_as"] = spec.run_as;
  json["resources"] = asked_of(spec);
  json["binding"] = std::string(to_string(spec.binding));
  json["gpus_per_rank"] = spec.resources.isolate_gpus ? "isolated" : "all";
  json["isolated"] = spec.resources.isolated;
  json["rdma"] = std::string(to_string(spec.resources.rdma));
  json["labels"] = map_of(spec.resources.labels);
  json["nodes"] = spec.resources.nodes;
  json["retry"] = retry_of(spec.retry);
  json["checkpoint"] = {{"every", seconds_of(spec.checkpoint.every)}};
  json["limits"] = {{"pids", spec.limits.pids ? Json(*spec.limits.pids) : Json(nullptr)},
                    {"log", spec.limits.log ? Json(spec.limits.log->count) : Json(nullptr)},
                    {"disk", spec.limits.disk ? Json(spec.limits.disk->count) : Json(nullptr)},
                    {"required", spec.limits.required}};
  json["grace_period"] = spec.stop.grace ? Json(seconds_of(*spec.stop.grace)) : Json(nullptr);
  json["signal"] = nullptr;
  if (const auto& signal = spec.stop.signal)
    json["signal"] = {{"name", early_signal_name(signal->number)},
                      {"before", seconds_of(signal->before)}};
  json["terminal"] = std::string(to_string(spec.terminal));
  json["hang_after"] = seconds_of(spec.hang.after);
  json["on_hang"] = std::string(to_string(spec.hang.on));
  json["core"] = std::string(to_string(spec.core));
  json["metrics"] = map_of(spec.metric_lines);
  json["keep"] = spec.keep;
  json["compute_why"] = words::text_of(spec.compute_why);
  json["compute_why_data"] = reason_json(spec.compute_why);
  json["from_checkpoint_of"] =
      spec.from_checkpoint_of.value.empty() ? Json(nullptr) : Json(spec.from_checkpoint_of.value);
  json["after"] = Json::array();
  for (const After& after : spec.queue.after)
    json["after"].push_back(
        {{"job", after.job.value}, {"when", std::string(to_string(after.when))}});
  json["not_before"] = time_or_null(spec.queue.not_before);
  json["parent"] = spec.parent.value.empty() ? Json(nullptr) : Json(spec.parent.value);
  json["step"] = spec.step.empty() ? Json(nullptr) : Json(spec.step);
  json["array"] =
      spec.pipeline && !spec.pipeline->array.empty() ? Json(spec.pipeline->array) : Json(nullptr);
  json["replaced_environment"] =
      spec.replaced_environment ? to_json(*spec.replaced_environment) : Json(nullptr);
  json["array_index"] = spec.array ? Json(spec.array->index) : Json(nullptr);
  return json;
}

std::vector<std::string> unwritten_of_pipeline(const JobView& job) {
  std::vector<std::string> lines;
  if (job.status != JobStatus::completed) return lines;
  for (const MergedOutput& output : job.merged)
    if (!output.tree)
      lines.push_back(fmt::format(
          "output '{}' of the pipeline has no files: {}", output.name,
          output.problems.empty() ? "its step wrote nothing to it" : output.problems.front()));
  return lines;
}

}  // namespace

std::vector<std::string> unwritten_outputs(const JobView& job) {
  std::vector<std::string> lines;
  if (job.spec.pipeline) return unwritten_of_pipeline(job);
  if (job.status != JobStatus::completed || job.attempts.empty()) return lines;
  const std::vector<PartView>& parts = job.attempts.back().parts;
  for (const OutputSpec& spec : job.spec.outputs) {
    const bool is_there = std::any_of(parts.begin(), parts.end(), [&](const PartView& part) {
      return std::any_of(part.outputs.begin(), part.outputs.end(), [&](const auto& output) {
        return output.kind == OutputKind::named && output.name == spec.name;
      });
    });
    if (!is_there)
      lines.push_back(
          fmt::format("output '{}' ({}) was never written: no rank wrote to "
                      "${{{{outputs.{}}}}}",
                      spec.name, type_word(spec), spec.name));
  }
  for (const MergedOutput& output : job.merged)
    for (const std::string& problem : output.problems)
      lines.push_back(fmt::format("output '{}': {}", output.name, problem));
  for (const std::string& pattern : unmatched_keep(job))
    lines.push_back(fmt::format(
        "keep '{}' matched no file that the ranks made outside ./outputs and ./logs", pattern));
  return lines;
}

namespace {

Json lost_peer_json(const LostPeer& peer) {
  return {{"address", text_or_null(peer.address)},
          {"node_rank", peer.node_rank < 0 ? Json(nullptr) : Json(peer.node_rank)},
          {"rank", peer.end ? Json(peer.end->rank) : Json(nullptr)},
          {"exit_code", peer.end ? Json(peer.end->exit_code) : Json(nullptr)},
          {"left", peer.left}};
}

}  // namespace

Json to_json(const ExitReport& report) {
  Json json;
  json["cause"] = std::string(to_string(report.cause));
  json["exit_code"] = report.exit_code;
  json["rank"] = report.rank ? Json(*report.rank) : Json(nullptr);
  json["node_name"] = report.node_name.empty() ? Json(nullptr) : Json(report.node_name);
  json["time"] = time_or_null(report.time);
  json["message"] = report.message;
  json["reason_data"] = reason_json(report.why);
  json["stderr_tail"] = report.stderr_tail;
  json["backtrace"] = report.backtrace;
  json["hang"] = report.hang ? Json(std::string(to_string(report.hang->kind))) : Json(nullptr);
  json["lost_peer"] = report.lost_peer ? lost_peer_json(*report.lost_peer) : Json(nullptr);
  json["terminated_ranks"] = report.terminated_ranks;
  json["also"] = Json::array();
  for (const PossibleFirst& other : report.also)
    json["also"].push_back({{"cause", std::string(to_string(other.cause))},
                            {"rank", other.rank ? Json(*other.rank) : Json(nullptr)},
                            {"node_name", other.node_name},
                            {"time", time_or_null(other.time)},
                            {"message", other.message},
                            {"reason_data", reason_json(other.why)}});
  json["clocks"] = Json::array();
  for (const NodeClock& clock : report.clocks)
    json["clocks"].push_back({{"node_name", clock.node_name},
                              {"ahead_seconds", seconds_of(clock.offset.ahead)},
                              {"uncertainty_seconds", seconds_of(clock.offset.uncertainty)}});
  return json;
}

Json to_json(const JobView& job) {
  const JobSpec& spec = job.spec;
  Json json;
  json["name"] = spec.name;
  json["type"] = spec.is_pipeline() ? "pipeline" : "command";
  json["status"] = std::string(to_string(job.status));
  json["display_name"] = spec.display_name.empty() ? spec.name : spec.display_name;
  json["experiment_name"] = spec.experiment_name.empty() ? "Default" : spec.experiment_name;
  json["description"] = spec.description;
  json["tags"] = map_of(spec.tags);
  json["archived"] = job.archived;
  json["command"] = spec.is_pipeline() ? Json(nullptr) : command_of(spec.command);
  json["compute"] = spec.compute.empty() ? "local" : spec.compute;
  json["environment"] = spec.environment ? to_json(*spec.environment) : Json(nullptr);
  json["environment_variables"] = map_of(spec.environment_variables);
  json["inputs"] = inputs_of(spec);
  json["outputs"] = outputs_of(job);
  json["jobs"] = steps_of(job);
  json["distribution"] = distribution_of(spec);
  json["resources"] = spec.is_pipeline() ? Json(nullptr) : resources_of(spec.resources);
  json["limits"] = spec.timeout ? Json{{"timeout", seconds_of(*spec.timeout)}} : Json(nullptr);
  json["queue_settings"] = {{"priority", std::string(to_string(spec.queue.priority))},
                            {"job_tier", spec.queue.tier == JobTier::unset
                                             ? Json(nullptr)
                                             : Json(std::string(to_string(spec.queue.tier)))}};
  json["creation_context"] = {{"created_at", time_or_null(job.submitted)},
                              {"created_by", spec.submitter}};
  json["lockstep"] = ours_of(spec);
  json["lockstep"]["shared"] = job.shared;
  json["reason"] = job.reason;
  json["reason_data"] = reason_json(job.why);
  json["queue_position"] = job.queue_position;
  json["restarts"] = job.attempts.empty() ? 0 : job.attempts.size() - 1;
  json["retry_at"] = time_or_null(job.retry_at);
  json["ended_at"] = time_or_null(job.ended);
  json["exit_code"] = job.report ? Json(job.report->exit_code) : Json(nullptr);
  json["report"] = job.report ? to_json(*job.report) : Json(nullptr);
  json["attempts"] = Json::array();
  for (const auto& attempt : job.attempts)
    json["attempts"].push_back(attempt_json(spec.name, attempt));
  json["warnings"] = unwritten_outputs(job);
  json["silent_seconds"] = job.silent == Duration::zero()
                               ? Json(nullptr)
                               : seconds_of(std::chrono::floor<seconds>(job.silent));
  return json;
}

Json rank_settings_json(const SettingsView& view) {
  Json elsewhere = Json::array();
  for (const SettingsView::Elsewhere& other : view.elsewhere)
    elsewhere.push_back({{"name", other.setting.name},
                         {"value", other.setting.value},
                         {"source", std::string(to_string(other.setting.source))},
                         {"reason", other.setting.reason},
                         {"warning", text_or_null(other.setting.warning)},
                         {"ranks", other.ranks}});
  return {{"rank", view.rank},
          {"node_name", text_or_null(view.node_name)},
          {"absent", text_or_null(view.absent)},
          {"absent_data", reason_json(view.why_absent)},
          {"variables", settings_json(view.settings)},
          {"elsewhere", std::move(elsewhere)},
          {"more", view.more}};
}

Json rerun_json(const RerunView& rerun) {
  const auto digest = [](const std::optional<Digest>& one) {
    return one ? Json(one->hex()) : Json(nullptr);
  };
  Json changes = Json::array();
  for (const PartChange& change : rerun.changes) {
    Json json{{"part", change.part}, {"was", digest(change.was)}, {"is", digest(change.is)}};
    json["files"] = nullptr;
    if (change.files)
      json["files"] = {{"added", change.files->added},
                       {"removed", change.files->removed},
                       {"changed", change.files->changed},
                       {"first", text_or_null(change.files->first)},
                       {"more", change.files->more}};
    changes.push_back(std::move(json));
  }
  return {{"before", rerun.before.value}, {"changes", std::move(changes)}};
}

Json to_json(const ExplainView& explain) {
  Json json;
  json["name"] = explain.job.spec.name;
  json["status"] = std::string(to_string(explain.job.status));
  json["reason"] = explain.job.reason;
  json["reason_data"] = reason_json(explain.job.why);
  json["placement"] = explain.lines;
  json["environment"] = explained_environment(explain.job);
  json["rerun"] = explain.rerun ? rerun_json(*explain.rerun) : Json(nullptr);
  json["settings"] = explain.settings ? rank_settings_json(*explain.settings) : Json(nullptr);
  return json;
}

Json to_json(const JobEvent& event) {
  Json json;
  json["time"] = to_string(event.at);
  json["what"] = event.what;
  json["attempt"] = event.attempt == 0 ? Json(nullptr) : Json(event.attempt);
  json["node_name"] = event.node_name.empty() ? Json(nullptr) : Json(event.node_name);
  json["message"] = event.message;
  json["reason_data"] = reason_json(event.why);
  return json;
}

Json to_json(const JobsDeleted& deleted) {
  Json json;
  json["deleted"] = Json::array();
  for (const JobId& job : deleted.jobs) json["deleted"].push_back(job.value);
  json["kept"] = Json::array();
  for (const auto& kept : deleted.kept)
    json["kept"].push_back({{"name", kept.job.value}, {"reason", kept.message}});
  return json;
}

Json to_json(const std::string& file, const JobFileChecked& checked) {
  return {{"file", file},
          {"valid", checked.errors.empty()},
          {"errors", checked.errors},
          {"notes", checked.notes}};
}

Json to_json(const Done& done) { return {{"message", done.message}}; }

namespace {

// A list does not know how ranks ended: see ViewDetail.
Json listed(const JobView& job) {
  Json json = to_json(job);
  for (Json& attempt : json["attempts"])
    for (Json& part : attempt["parts"]) part["rank_states"] = Json::array();
  return json;
}

}  // namespace

Json to_json(const std::vector<JobView>& jobs) { return list_of<JobView>(jobs, listed); }
Json to_json(const std::vector<JobEvent>& events) { return list_of<JobEvent>(events, to_json); }

}  // namespace lockstep::api
