#include "launcher/cli/view_json.h"

#include <nlohmann/json.hpp>

#include "common/domain/access.h"
#include "launcher/cli/download.h"
#include "launcher/cli/environment_view.h"

namespace lockstep::cli {

namespace {

Json time_or_null(Instant time) { return time.ns == 0 ? Json(nullptr) : Json(to_string(time)); }

Json map_of(const std::map<std::string, std::string>& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json[key] = value;
  return json;
}

Json seconds_of(Duration duration) {
  if (duration.count() % 1'000'000'000 == 0) return duration.count() / 1'000'000'000;
  return static_cast<double>(duration.count()) / 1e9;
}

Json command_of(const Command& command) {
  if (const auto* shell = std::get_if<ShellCommand>(&command)) return shell->text;
  Json words = Json::array();
  for (const auto& word : std::get<Argv>(command).words) words.push_back(word);
  return words;
}

Json distribution_of(const JobSpec& spec) {
  if (spec.distribution.kind == Distribution::Kind::none &&
      spec.distribution.processes_per_node == 1)
    return nullptr;
  return {{"type", std::string(to_string(spec.distribution.kind))},
          {"process_count_per_instance", spec.distribution.processes_per_node}};
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
  if (resources.shm_size) json["shm_size"] = resources.shm_size->count;
  if (!resources.docker_args.empty()) json["docker_args"] = resources.docker_args;
  return json;
}

const char* word_of(OutputKind kind) {
  switch (kind) {
    case OutputKind::outputs: return "outputs";
    case OutputKind::logs: return "logs";
    case OutputKind::named: return "named";
    case OutputKind::checkpoint: return "checkpoint";
  }
  return "outputs";
}

Json output_json(const CollectedOutput& output) {
  Json json;
  json["kind"] = word_of(output.kind);
  json["name"] = output.kind == OutputKind::named ? Json(output.name) : Json(nullptr);
  json["digest"] = output.tree ? Json(output.tree->hex()) : Json(nullptr);
  json["files"] = output.files;
  json["size"] = output.size.count;
  json["problems"] = output.problems;
  return json;
}

Json outputs_of(const std::vector<OutputSpec>& outputs) {
  Json json = Json::object();
  for (const auto& output : outputs)
    json[output.name] = {{"type", std::string(to_string(output.type))},
                         {"mode", std::string(to_string(output.mode))}};
  return json;
}

Json part_json(const PartView& part) {
  Json json;
  json["node_name"] = part.node_name;
  json["node_rank"] = part.node_rank;
  json["first_rank"] = part.first_rank;
  json["ranks"] = part.ranks;
  json["state"] = std::string(to_string(part.state));
  json["progress"] = part.progress;
  json["limits"] = part.limits;
  json["cpus"] = part.allotment.cpus;
  json["memory"] = part.allotment.memory.count;
  json["gpus"] = part.allotment.gpus;
  json["outputs"] = Json::array();
  for (const auto& output : part.outputs) json["outputs"].push_back(output_json(output));
  json["environment"] = part.environment ? to_json(*part.environment) : Json(nullptr);
  return json;
}

Json checkpoint_json(const CheckpointView& checkpoint) {
  Json json;
  json["attempt"] = checkpoint.attempt;
  json["saved"] = time_or_null(checkpoint.saved);
  json["digest"] = checkpoint.tree ? Json(checkpoint.tree->hex()) : Json(nullptr);
  json["files"] = checkpoint.files;
  json["size"] = checkpoint.size.count;
  return json;
}

Json attempt_json(const AttemptView& attempt) {
  Json json;
  json["number"] = attempt.number;
  json["placed"] = time_or_null(attempt.placed);
  json["started"] = time_or_null(attempt.started);
  json["ended"] = time_or_null(attempt.ended);
  json["parts"] = Json::array();
  for (const auto& part : attempt.parts) json["parts"].push_back(part_json(part));
  json["report"] = attempt.report ? to_json(*attempt.report) : Json(nullptr);
  json["retried"] = attempt.retried.empty() ? Json(nullptr) : Json(attempt.retried);
  json["checkpoint"] = attempt.checkpoint ? checkpoint_json(*attempt.checkpoint) : Json(nullptr);
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
  json["gpus_per_rank"] = spec.resources.isolate_gpus ? "isolated" : "all";
  json["retry"] = retry_of(spec.retry);
  json["checkpoint"] = {{"every", seconds_of(spec.checkpoint.every)}};
  json["limits"] = {{"pids", spec.limits.pids ? Json(*spec.limits.pids) : Json(nullptr)},
                    {"log", spec.limits.log ? Json(spec.limits.log->count) : Json(nullptr)},
                    {"disk", spec.limits.disk ? Json(spec.limits.disk->count) : Json(nullptr)}};
  return json;
}

Json caps_json(const LimitCaps& caps) {
  const auto said = [](auto number) { return number == 0 ? Json(nullptr) : Json(number); };
  return {
      {"pids", said(caps.pids)}, {"log", said(caps.log.count)}, {"disk", said(caps.disk.count)}};
}

Json gpu_json(const GpuDevice& gpu) {
  Json json;
  json["index"] = gpu.index;
  json["name"] = gpu.name;
  json["uuid"] = gpu.uuid;
  json["pci_bus_id"] = gpu.pci_bus_id;
  json["memory"] = gpu.memory.count;
  json["numa_node"] = gpu.numa_node;
  return json;
}

Json interface_json(const NetworkInterface& interface) {
  Json json;
  json["name"] = interface.name;
  json["addresses"] = interface.addresses;
  json["speed_mbps"] = interface.speed_mbps < 0 ? Json(nullptr) : Json(interface.speed_mbps);
  json["up"] = interface.up;
  json["loopback"] = interface.loopback;
  return json;
}

Json inventory_json(const Inventory& inventory) {
  Json json;
  json["hostname"] = inventory.hostname;
  json["os"] = inventory.os;
  json["kernel"] = inventory.kernel;
  json["architecture"] = inventory.architecture;
  json["glibc"] = inventory.glibc;
  json["cuda"] = inventory.cuda;
  json["cpus"] = inventory.cpus;
  json["sockets"] = inventory.sockets;
  json["numa_nodes"] = inventory.numa_nodes;
  json["memory"] = inventory.memory.count;
  json["disk_free"] = inventory.disk_free.count;
  json["gpus"] = Json::array();
  for (const auto& gpu : inventory.gpus) json["gpus"].push_back(gpu_json(gpu));
  json["interfaces"] = Json::array();
  for (const auto& nic : inventory.interfaces) json["interfaces"].push_back(interface_json(nic));
  json["address"] = inventory.address;
  json["network"] = inventory.network;
  json["user"] = inventory.user;
  json["isolation"] = inventory.isolation;
  json["workdir_mode"] = inventory.workdir_mode;
  json["limitations"] = inventory.limitations;
  json["caps"] = caps_json(inventory.caps);
  return json;
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
  json["stderr_tail"] = report.stderr_tail;
  json["terminated_ranks"] = report.terminated_ranks;
  return json;
}

Json to_json(const JobView& job) {
  const JobSpec& spec = job.spec;
  Json json;
  json["name"] = spec.name;
  json["type"] = "command";
  json["status"] = std::string(to_string(job.status));
  json["display_name"] = spec.display_name.empty() ? spec.name : spec.display_name;
  json["experiment_name"] = spec.experiment_name.empty() ? "Default" : spec.experiment_name;
  json["description"] = spec.description;
  json["tags"] = map_of(spec.tags);
  json["command"] = command_of(spec.command);
  json["compute"] = spec.compute.empty() ? "local" : spec.compute;
  json["environment"] = spec.environment ? to_json(*spec.environment) : Json(nullptr);
  json["environment_variables"] = map_of(spec.environment_variables);
  json["inputs"] = map_of(spec.inputs);
  json["outputs"] = outputs_of(spec.outputs);
  json["distribution"] = distribution_of(spec);
  json["resources"] = resources_of(spec.resources);
  json["limits"] = spec.timeout ? Json{{"timeout", seconds_of(*spec.timeout)}} : Json(nullptr);
  json["creation_context"] = {{"created_at", time_or_null(job.submitted)},
                              {"created_by", spec.submitter}};
  json["lockstep"] = ours_of(spec);
  json["lockstep"]["shared"] = job.shared;
  json["reason"] = job.reason;
  json["queue_position"] = job.queue_position;
  json["restarts"] = job.attempts.empty() ? 0 : job.attempts.size() - 1;
  json["retry_at"] = time_or_null(job.retry_at);
  json["ended_at"] = time_or_null(job.ended);
  json["exit_code"] = job.report ? Json(job.report->exit_code) : Json(nullptr);
  json["report"] = job.report ? to_json(*job.report) : Json(nullptr);
  json["attempts"] = Json::array();
  for (const auto& attempt : job.attempts) json["attempts"].push_back(attempt_json(attempt));
  json["warnings"] = unwritten_outputs(job);
  return json;
}

Json to_json(const NodeView& node) {
  Json json;
  json["name"] = node.name;
  json["node_id"] = node.id.value;
  json["liveness"] = std::string(to_string(node.liveness));
  json["draining"] = node.draining;
  json["waits_for_approval"] = node.waits_for_approval;
  json["reason"] = node.reason;
  json["jobs"] = Json::array();
  for (const auto& attempt : node.attempts) json["jobs"].push_back(to_string(attempt));
  json["last_heard"] = time_or_null(node.last_heard);
  json["joined_at"] = time_or_null(node.joined);
  json["inventory"] = inventory_json(node.inventory);
  json["blobs"] = {{"from_launcher_bytes", node.blobs.from_launcher_bytes},
                   {"from_peers_bytes", node.blobs.from_peers_bytes},
                   {"to_peers_bytes", node.blobs.to_peers_bytes},
                   {"lies", node.blobs.lies},
                   {"last_lie", node.blobs.last_lie}};
  return json;
}

Json to_json(const ExplainView& explain) {
  Json json;
  json["name"] = explain.job.spec.name;
  json["status"] = std::string(to_string(explain.job.status));
  json["reason"] = explain.job.reason;
  json["placement"] = explain.lines;
  json["environment"] = explained_environment(explain.job);
  return json;
}

Json to_json(const LauncherStatus& status) {
  Json json;
  json["running"] = true;
  json["version"] = status.version;
  json["endpoint"] = status.endpoint;
  json["pid"] = status.pid;
  json["home"] = status.home;
  json["started_at"] = time_or_null(status.started);
  json["jobs"] = Json::object();
  for (const auto& [word, count] : status.jobs) json["jobs"][word] = count;
  json["nodes"] = Json::object();
  for (const auto& [word, count] : status.nodes) json["nodes"][word] = count;
  const auto limit = [](std::uint64_t value) { return value == 0 ? Json(nullptr) : Json(value); };
  const bool for_ever = status.keeps.jobs_for == Duration(0);
  json["keeps"] = {
      {"jobs_for_seconds", for_ever ? Json(nullptr) : Json(seconds_of(status.keeps.jobs_for))},
      {"jobs", limit(status.keeps.jobs)},
      {"logs_bytes", limit(status.keeps.logs.count)},
      {"outputs_bytes", limit(status.keeps.outputs.count)}};
  const bool told = status.low_space.count != 0;
  json["disk"] = {{"free_bytes", told ? Json(status.disk_free.count) : Json(nullptr)},
                  {"low_space_bytes", limit(status.low_space.count)},
                  {"low", !status.low_reason.empty()},
                  {"reason", status.low_reason}};
  return json;
}

template <typename View>
Json to_json(const std::vector<View>& views) {
  Json list = Json::array();
  for (const auto& view : views) list.push_back(to_json(view));
  return list;
}
template Json to_json(const std::vector<JobView>&);
template Json to_json(const std::vector<NodeView>&);
template Json to_json(const std::vector<EnvironmentView>&);

}  // namespace lockstep::cli
