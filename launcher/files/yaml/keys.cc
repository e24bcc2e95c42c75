#include "launcher/files/yaml/keys.h"

#include <vector>

#include "common/base/nearest.h"

namespace lockstep::spec {

namespace {

constexpr std::string_view kOfSweep =
    "for many sets of values write lockstep.array, and let the command read its set by "
    "$LOCKSTEP_ARRAY_INDEX";
constexpr std::string_view kOfParallel =
    "write a command with resources.instance_count, whose ranks share the files";
constexpr std::string_view kOfLoop = "write one step for each round, or the loop in a command";
constexpr std::string_view kOfCompute =
    "it belongs to a compute target, in a file of its own: `lockstep compute create -f FILE`";
constexpr std::string_view kOfPipeline = "it belongs to a pipeline; write type: pipeline";

// Keys of a command job of Azure ML's CLI v2 (reference: azuremlschemas commandJob), then keys of
// other kinds of jobs that people put into one, then ours under `lockstep`.
constexpr KnownKey kKeys[] = {
    {"$schema", Shape::text},
    {"type", Shape::text},
    {"name", Shape::text},
    {"display_name", Shape::text},
    {"experiment_name", Shape::text},
    {"description", Shape::text},
    {"tags", Shape::text_map},
    {"command", Shape::text},
    {"code", Shape::text},
    {"compute", Shape::text},
    {"environment_variables", Shape::text_map},
    {"inputs", Shape::inputs},
    {"inputs.*.type", Shape::text},
    {"inputs.*.path", Shape::text},
    {"inputs.*.mode", Shape::text},
    {"inputs.*.default", Shape::not_yet},
    {"inputs.*.optional", Shape::not_yet},
    {"inputs.*.min", Shape::not_yet},
    {"inputs.*.max", Shape::not_yet},
    {"inputs.*.enum", Shape::not_yet},
    {"inputs.*.value", Shape::not_yet},
    {"inputs.*.description", Shape::text},
    {"distribution", Shape::section},
    {"distribution.type", Shape::text},
    {"distribution.process_count_per_instance", Shape::whole_number},
    {"distribution.worker_count", Shape::whole_number},
    {"distribution.parameter_server_count", Shape::whole_number},
    {"distribution.address", Shape::text},
    {"distribution.port", Shape::whole_number},
    {"distribution.dashboard_port", Shape::whole_number},
    {"distribution.include_dashboard", Shape::text},
    {"distribution.head_node_additional_args", Shape::words},
    {"distribution.worker_node_additional_args", Shape::words},
    {"resources", Shape::section},
    {"resources.instance_count", Shape::whole_number},
    {"resources.instance_type", Shape::text},
    {"resources.shm_size", Shape::bytes},
    {"resources.docker_args", Shape::words},
    {"resources.locations", Shape::not_yet},
    {"resources.max_instance_count", Shape::not_yet},
    {"resources.properties", Shape::anything},
    {"limits", Shape::section},
    {"limits.timeout", Shape::duration},
    {"limits.max_total_trials", Shape::not_yet, kOfSweep},
    {"limits.max_concurrent_trials", Shape::not_yet, kOfSweep},
    {"limits.trial_timeout", Shape::not_yet, kOfSweep},
    // keys of an environment, also of a file with only one: see environment_reader.h
    {"environment", Shape::environment},
    {"environment.$schema", Shape::text},
    {"environment.name", Shape::text},
    {"environment.version", Shape::text},
    {"environment.description", Shape::text},
    {"environment.tags", Shape::text_map},
    {"environment.os_type", Shape::text},
    {"environment.interpreter", Shape::text},
    {"environment.requirements", Shape::lines},
    {"environment.options", Shape::lines},
    {"environment.constraints", Shape::lines},
    {"environment.python", Shape::text},
    {"environment.image", Shape::text},
    {"environment.build", Shape::section},
    {"environment.build.path", Shape::text},
    {"environment.build.dockerfile_path", Shape::text},
    {"environment.conda_file", Shape::conda_file},
    {"environment.inference_config", Shape::not_yet},
    {"environment.properties", Shape::not_yet},
    {"outputs", Shape::outputs},
    {"outputs.*.type", Shape::text},
    {"outputs.*.mode", Shape::text},
    {"outputs.*.path", Shape::text},
    {"outputs.*.name", Shape::text},
    {"outputs.*.version", Shape::text},
    {"outputs.*.description", Shape::text},
    {"queue_settings", Shape::section},
    {"queue_settings.job_tier", Shape::text},
    {"queue_settings.priority", Shape::text},
    {"services", Shape::unused},
    {"identity", Shape::unused},
    {"properties", Shape::unused},
    {"parameters", Shape::not_yet},
    {"schedule", Shape::not_yet},
    {"trigger", Shape::not_yet, "submit the file from cron, with `lockstep job create -f FILE`"},
    // keys of pipeline jobs and their steps
    {"settings", Shape::not_yet, kOfPipeline},
    {"jobs", Shape::not_yet, kOfPipeline},
    {"component", Shape::unchecked},
    {"body", Shape::not_yet, kOfLoop},
    {"condition", Shape::not_yet, kOfLoop},
    {"mapping", Shape::not_yet, kOfLoop},
    {"items", Shape::not_yet, kOfLoop},
    {"max_concurrency", Shape::not_yet, kOfLoop},
    // keys of sweep jobs
    {"sampling_algorithm", Shape::not_yet, kOfSweep},
    {"search_space", Shape::not_yet, kOfSweep},
    {"objective", Shape::not_yet, kOfSweep},
    {"early_termination", Shape::not_yet, kOfSweep},
    {"trial", Shape::not_yet, kOfSweep},
    // keys of parallel steps
    {"task", Shape::not_yet, kOfParallel},
    {"input_data", Shape::not_yet, kOfParallel},
    {"mini_batch_size", Shape::not_yet, kOfParallel},
    {"mini_batch_error_threshold", Shape::not_yet, kOfParallel},
    {"error_threshold", Shape::not_yet, kOfParallel},
    {"max_concurrency_per_instance", Shape::not_yet, kOfParallel},
    {"retry_settings", Shape::not_yet, kOfParallel},
    // keys of compute targets
    {"location", Shape::not_yet, kOfCompute},
    {"size", Shape::not_yet, kOfCompute},
    {"tier", Shape::not_yet, kOfCompute},
    {"min_instances", Shape::not_yet, kOfCompute},
    {"max_instances", Shape::not_yet, kOfCompute},
    {"idle_time_before_scale_down", Shape::not_yet, kOfCompute},
    {"idle_time_before_shutdown_minutes", Shape::not_yet, kOfCompute},
    {"schedules", Shape::not_yet, kOfCompute},
    {"ssh_settings", Shape::not_yet, kOfCompute},
    {"network_settings", Shape::not_yet, kOfCompute},
    {"resource_id", Shape::not_yet, kOfCompute},
    {"namespace", Shape::not_yet, kOfCompute},
    // Lockstep's own keys
    {"lockstep", Shape::section},
    {"lockstep.project", Shape::text},
    {"lockstep.resources", Shape::section},
    {"lockstep.resources.cpus", Shape::whole_number},
    {"lockstep.resources.memory", Shape::bytes},
    {"lockstep.resources.gpus", Shape::whole_number},
    {"lockstep.binding", Shape::text},
    {"lockstep.gpus_per_rank", Shape::text},
    {"lockstep.isolated", Shape::text},
    {"lockstep.rdma", Shape::text},
    {"lockstep.labels", Shape::text_map},
    {"lockstep.nodes", Shape::patterns},
    {"lockstep.limits", Shape::section_or_word},
    {"lockstep.limits.enforcement", Shape::text},
    {"lockstep.limits.pids", Shape::whole_number},
    {"lockstep.limits.log", Shape::bytes},
    {"lockstep.limits.disk", Shape::bytes},
    {"lockstep.grace_period", Shape::duration},
    {"lockstep.signal", Shape::section},
    {"lockstep.signal.name", Shape::text},
    {"lockstep.signal.before", Shape::duration},
    {"lockstep.terminal", Shape::text},
    {"lockstep.hang_after", Shape::text},
    {"lockstep.on_hang", Shape::text},
    {"lockstep.core", Shape::text},
    {"lockstep.metrics", Shape::text_map},
    {"lockstep.retry", Shape::section},
    {"lockstep.retry.max", Shape::whole_number},
    {"lockstep.retry.on", Shape::retry_on},
    {"lockstep.retry.on.exit_code", Shape::whole_number},
    {"lockstep.retry.backoff", Shape::duration},
    {"lockstep.retry.on_lost", Shape::text},
    {"lockstep.keep", Shape::patterns},
    {"lockstep.links", Shape::text},
    {"lockstep.from_checkpoint_of", Shape::text},
    {"lockstep.after", Shape::after},
    {"lockstep.array", Shape::text},
    {"lockstep.not_before", Shape::text},
    {"lockstep.checkpoint", Shape::section},
    {"lockstep.checkpoint.every", Shape::duration},
};

constexpr KnownWord kWords[] = {
    {"distribution.type", "mpi", true},
    {"distribution.type", "pytorch", true},
    {"distribution.type", "tensorflow", true},
    {"distribution.type", "ray", true},
    {"inputs.*.type", "uri_folder", true},
    {"inputs.*.type", "uri_file", true},
    {"inputs.*.type", "mltable", true},
    {"inputs.*.type", "mlflow_model", true},
    {"inputs.*.type", "custom_model", true},
    {"inputs.*.type", "triton_model", true},
    {"inputs.*.mode", "ro_mount", true},
    {"inputs.*.mode", "download", true},
    {"inputs.*.mode", "direct", true},
    {"inputs.*.mode", "rw_mount", true},
    {"inputs.*.mode", "upload", false, "it is a mode of outputs; write ro_mount or download"},
    {"inputs.*.mode", "eval_mount", false,
     "write ro_mount, and evaluate the table in the command: mltable.load(PATH)"},
    {"inputs.*.mode", "eval_download", false,
     "write download, and evaluate the table in the command: mltable.load(PATH)"},
    {"outputs.*.type", "uri_folder", true},
    {"outputs.*.type", "uri_file", true},
    {"outputs.*.type", "mltable", true},
    {"outputs.*.type", "mlflow_model", true},
    {"outputs.*.type", "custom_model", true},
    {"outputs.*.type", "triton_model", true},
    {"outputs.*.mode", "rw_mount", true},
    {"outputs.*.mode", "upload", true},
    {"outputs.*.mode", "mount", true},
    {"outputs.*.mode", "direct", false},
    {"queue_settings.priority", "low", true},
    {"queue_settings.priority", "medium", true},
    {"queue_settings.priority", "high", true},
    {"queue_settings.job_tier", "spot", true},
    {"queue_settings.job_tier", "basic", true},
    {"queue_settings.job_tier", "standard", true},
    {"queue_settings.job_tier", "premium", true},
    {"lockstep.binding", "auto", true},
    {"lockstep.binding", "none", true},
    {"lockstep.binding", "numa", true},
    {"lockstep.binding", "core", true},
    {"lockstep.gpus_per_rank", "all", true},
    {"lockstep.gpus_per_rank", "isolated", true},
    {"lockstep.limits", "required", true},
    {"lockstep.limits", "preferred", true},
    {"lockstep.limits.enforcement", "required", true},
    {"lockstep.limits.enforcement", "preferred", true},
    {"lockstep.links", "follow", true},
    {"lockstep.links", "keep", true},
    {"lockstep.terminal", "none", true},
    {"lockstep.terminal", "pty", true},
    {"lockstep.terminal", "stdin", true},
    {"lockstep.on_hang", "report", true},
    {"lockstep.on_hang", "stacks", true},
    {"lockstep.on_hang", "fail", true},
    {"lockstep.on_hang", "retry", true},
    {"lockstep.core", "off", true},
    {"lockstep.core", "backtrace", true},
    {"lockstep.core", "keep", true},
    {"lockstep.retry.on", "infrastructure", true},
    {"lockstep.retry.on", "node_lost", true},
    {"lockstep.retry.on", "runner_lost", true},
    {"lockstep.retry.on", "out_of_memory", true},
    {"lockstep.retry.on", "signal", true},
    {"lockstep.retry.on", "timeout", true},
    {"lockstep.retry.on", "exit_code", true},
    {"lockstep.retry.on", "never", true},
    {"lockstep.retry.on_lost", "immediately", true},
    {"lockstep.retry.on_lost", "after_fence", true},
};

std::string_view section_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

std::string_view leaf_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

}  // namespace

std::span<const KnownKey> known_keys() { return kKeys; }
std::span<const KnownWord> known_words() { return kWords; }

const KnownKey* find_key(std::string_view path) {
  for (const auto& key : kKeys)
    if (key.path == path) return &key;
  return nullptr;
}

const KnownKey* KeyTable::find(std::string_view path) const {
  for (const auto keys : {own, base})
    for (const auto& key : keys)
      if (key.path == path) return &key;
  return nullptr;
}

KeyTable job_keys() { return {kKeys}; }

std::string nearest_key(const KeyTable& table, std::string_view section, std::string_view key) {
  std::vector<std::string_view> leaves;
  for (const auto keys : {table.own, table.base})
    for (const auto& known : keys)
      if (section_of(known.path) == section) leaves.push_back(leaf_of(known.path));
  const std::string leaf = nearest(key, leaves);
  if (!leaf.empty()) return section.empty() ? leaf : std::string(section) + "." + leaf;
  for (const auto keys : {table.own, table.base})
    for (const auto& known : keys)
      if (known.shape != Shape::not_yet && leaf_of(known.path) == key)
        return std::string(known.path);
  return "";
}

std::string nearest_key(std::string_view section, std::string_view key) {
  return nearest_key(job_keys(), section, key);
}

}  // namespace lockstep::spec
