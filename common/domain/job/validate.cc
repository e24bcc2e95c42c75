// The checks that spec.h declares.

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "common/domain/environment/docker_args.h"
#include "common/domain/environment/docker_values.h"
#include "common/domain/environment/variables.h"
#include "common/domain/job/pipeline.h"
#include "common/domain/job/secret_references.h"
#include "common/domain/job/spec.h"
#include "common/domain/targets/compute.h"
#include "common/domain/targets/node_labels.h"
#include "common/grammar/job_name.h"

namespace lockstep {

namespace {

Error invalid(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

Status validate_command(const Command& command) {
  std::size_t bytes = 0;
  if (const auto* shell = std::get_if<ShellCommand>(&command)) {
    if (shell->text.find_first_not_of(" \t\n") == std::string::npos)
      return invalid("command: is empty; say what to run");
    if (shell->text.find('\0') != std::string::npos) return invalid("command: holds a NUL byte");
    bytes = shell->text.size();
  } else {
    const auto& words = std::get<Argv>(command).words;
    if (words.empty() || words[0].empty())
      return invalid("command: is empty; say what to run after --");
    for (const auto& word : words) bytes += word.size() + 1;
  }
  if (bytes > kMaxCommandBytes)
    return invalid("command: has " + std::to_string(bytes) + " bytes; at most " +
                   std::to_string(kMaxCommandBytes) + " are possible; put it in a script");
  return {};
}

// Whether a pattern is one, launcher/files says.
Status validate_metric_lines(const std::map<std::string, std::string>& lines) {
  if (lines.size() > kMaxMetricLines)
    return invalid("lockstep.metrics: has " + std::to_string(lines.size()) + " metrics; at most " +
                   std::to_string(kMaxMetricLines) + " are possible");
  for (const auto& [name, pattern] : lines)
    if (name.empty() || pattern.empty() || pattern.size() > kMaxMetricPatternBytes)
      return invalid("lockstep.metrics: each metric needs a name and a pattern of at most " +
                     std::to_string(kMaxMetricPatternBytes) + " bytes");
  return {};
}

Status validate_numbers(const JobSpec& spec) {
  const auto& r = spec.resources;
  if (r.instance_count < 1 || r.instance_count > kMaxNodesPerJob)
    return invalid("resources.instance_count: is " + std::to_string(r.instance_count) +
                   "; must be 1 to " + std::to_string(kMaxNodesPerJob));
  const int ranks = spec.distribution.processes_per_node;
  TRY(validate(spec.distribution, r.instance_count));
  if (r.cpus && *r.cpus < 1) return invalid("lockstep.resources.cpus: must be at least 1");
  if (r.gpus && *r.gpus < 0) return invalid("lockstep.resources.gpus: must not be negative");
  if (r.memory && r.memory->count == 0) return invalid("lockstep.resources.memory: must not be 0");
  if (r.shm_size && *r.shm_size < kMinShmSize)
    return invalid("resources.shm_size: is " + to_string(*r.shm_size) + "; must be at least " +
                   to_string(kMinShmSize));
  if (r.isolate_gpus && r.gpus && *r.gpus < ranks)
    return invalid("lockstep.gpus_per_rank: isolated gives each rank a GPU of its own, but " +
                   std::to_string(ranks) + " ranks a node share " + std::to_string(*r.gpus) +
                   "; ask for more lockstep.resources.gpus or start fewer ranks");
  if (spec.timeout && spec.timeout->count() <= 0)
    return invalid("limits.timeout: must be more than 0 seconds");
  return {};
}

Status validate_placement(const ResourceRequest& r) {
  if (r.instance_type.size() > kMaxInstanceTypeBytes)
    return invalid("resources.instance_type: has more than " +
                   std::to_string(kMaxInstanceTypeBytes) + " characters");
  for (const char c : r.instance_type)
    if (std::isprint(static_cast<unsigned char>(c)) == 0)
      return invalid("resources.instance_type: holds a character that cannot be printed");
  if (const Status good = check_labels(r.labels); !good)
    return good.error().within("lockstep.labels");
  if (r.nodes.size() > kMaxNamedNodes)
    return invalid("lockstep.nodes: names " + std::to_string(r.nodes.size()) + " nodes; at most " +
                   std::to_string(kMaxNamedNodes) + " are possible");
  std::set<std::string> names;
  for (const std::string& name : r.nodes) {
    if (!is_node_name(name))
      return invalid("lockstep.nodes: '" + name.substr(0, 100) +
                     "' is not the name of a node; `lockstep node list` shows the names");
    if (!names.insert(name).second) return invalid("lockstep.nodes: names " + name + " twice");
  }
  if (!r.nodes.empty() && static_cast<std::size_t>(std::max(r.instance_count, 0)) > r.nodes.size())
    return invalid("resources.instance_count: is " + std::to_string(r.instance_count) +
                   ", but lockstep.nodes names only " + std::to_string(r.nodes.size()));
  return {};
}

Status validate_annotations(const JobSpec& spec) {
  if (spec.tags.size() > kMaxJobTags)
    return invalid("tags: are " + with_commas(spec.tags.size()) + "; at most " +
                   with_commas(kMaxJobTags) + " are possible");
  if (spec.tags.count("") != 0)
    return invalid("tags: a tag needs a key, as in `tags: {owner: ada}`");
  if (const std::size_t bytes = annotation_bytes(spec); bytes > kMaxAnnotationBytes)
    return invalid("tags: they and display_name, description and experiment_name have " +
                   with_commas(bytes) + " bytes; at most " + with_commas(kMaxAnnotationBytes) +
                   " are possible");
  return {};
}

Status validate_inputs(const JobSpec& spec) {
  if (spec.inputs.size() > kMaxJobInputs)
    return invalid("inputs: are " + with_commas(spec.inputs.size()) + "; at most " +
                   with_commas(kMaxJobInputs) + " are possible");
  TRY(validate(spec.data));
  for (const DataInput& input : spec.data)
    if (spec.inputs.count(input.name) != 0)
      return invalid("inputs." + input.name + ": is named twice");
  return {};
}

// docker_args may ask for fewer processes only. A job asks for more by limits.pids, which the
// operator of a node bounds.
Status validate_pids_of_container(const JobSpec& spec) {
  const int pids = spec.limits.pids.value_or(kDefaultPidsLimit);
  const int ranks = spec.distribution.processes_per_node;
  TRY_ASSIGN(const auto given, read_docker_args(spec.resources.docker_args));
  for (const DockerArg& arg : given)
    if (arg.option->name == "pids-limit" && std::atoll(arg.value.c_str()) > 1LL * pids * ranks)
      return invalid("resources.docker_args: --pids-limit " + arg.value +
                     " is more than the container's ranks may have (" + std::to_string(ranks) +
                     " x " + with_commas(pids) + "); write lockstep.limits.pids instead");
  return {};
}

Status validate_terminal(const JobSpec& spec) {
  if (spec.terminal == TerminalKind::none) return {};
  if (spec.array)
    return invalid(
        "lockstep.terminal: the tasks of an array have none, since nobody can write to "
        "all of them; run one of them as a job of its own");
  if (spec.is_pipeline() || !spec.step.empty())
    return invalid(
        "lockstep.terminal: a pipeline and its steps have none, since they run when "
        "nobody waits for them; run that command as a job of its own");
  return {};
}

Status validate_retry(const JobSpec& spec) {
  const RetryPolicy& retry = spec.retry;
  if (retry.max < 0 || retry.max > kMaxRetries)
    return invalid("lockstep.retry.max: is " + std::to_string(retry.max) + "; must be 0 to " +
                   std::to_string(kMaxRetries));
  if (retry.backoff < Duration::zero() || retry.backoff > kMaxBackoff)
    return invalid("lockstep.retry.backoff: must be 0 to " + format_duration(kMaxBackoff));
  if (retry.exit_codes.size() > kMaxRetryExitCodes)
    return invalid("lockstep.retry.on: names more than " + std::to_string(kMaxRetryExitCodes) +
                   " exit codes; write exit_code for any");
  for (int code : retry.exit_codes)
    if (code < 1 || code > 255)
      return invalid("lockstep.retry.on: " + std::to_string(code) +
                     " is not the exit code of a failure; write 1 to 255");
  const Duration every = spec.checkpoint.every;
  if (every != Duration::zero() && (every < seconds(1) || every > kMaxBackoff))
    return invalid("lockstep.checkpoint.every: must be 1s to " + format_duration(kMaxBackoff) +
                   ", or 0 to save only when the ranks have ended");
  return {};
}

}  // namespace

std::vector<Error> errors_of(const JobSpec& spec) {
  std::vector<Error> errors;
  const auto add = [&](const Status& status) {
    if (!status) errors.push_back(status.error());
  };
  if (!spec.name.empty()) add(validate_job_name(spec.name));
  if (const std::string& from = spec.from_checkpoint_of.value; !from.empty())
    if (const Status named = validate_job_name(from); !named)
      add(named.error().within("from_checkpoint_of"));
  if (!spec.is_pipeline()) add(validate_command(spec.command));
  add(validate_variables("environment_variables", spec.environment_variables));
  add(validate_secrets(spec));
  add(validate_annotations(spec));
  add(validate_inputs(spec));
  add(validate(spec.outputs));
  add(validate_keep(spec.keep));
  add(validate_numbers(spec));
  add(validate_placement(spec.resources));
  add(validate(spec.limits));
  add(validate(spec.stop, spec.timeout));
  add(validate_terminal(spec));
  add(validate(spec.hang));
  add(validate_metric_lines(spec.metric_lines));
  const Status docker_args = check_docker_args(spec.resources.docker_args);
  add(docker_args);
  if (docker_args) add(validate_pids_of_container(spec));
  add(validate_retry(spec));
  add(validate(spec.queue));
  if (spec.environment) add(validate(*spec.environment));
  if (!spec.compute.empty())
    if (const Status named = check_compute_name(spec.compute); !named)
      errors.push_back(named.error().within("compute"));
  if (spec.is_pipeline()) add(validate(*spec.pipeline));
  return errors;
}

Status validate(const JobSpec& spec) {
  const auto errors = errors_of(spec);
  if (errors.empty()) return {};
  return errors.front();
}

}  // namespace lockstep
