#include "common/wire/job/job_codec.h"

#include "common/domain/environment/docker_args.h"
#include "common/domain/job/pipeline.h"
#include "common/domain/targets/node_labels.h"
#include "common/domain/why/all/old_texts.h"
#include "common/domain/why/why.h"
#include "common/grammar/job_name.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/job/found_codec.h"
#include "common/wire/why_codec.h"

namespace lockstep::pb {

namespace {

constexpr std::size_t kMaxEntries = 100'000;

static_assert(static_cast<int>(lockstep::Distribution::Kind::none) + 1 == DISTRIBUTION_KIND_NONE);
static_assert(static_cast<int>(lockstep::Distribution::Kind::mpi) + 1 == DISTRIBUTION_KIND_MPI);
static_assert(static_cast<int>(lockstep::Distribution::Kind::pytorch) + 1 ==
              DISTRIBUTION_KIND_PYTORCH);
static_assert(is_wire_of(lockstep::Distribution::Kind::tensorflow, DISTRIBUTION_KIND_TENSORFLOW));
static_assert(is_wire_of(lockstep::Distribution::Kind::ray, DISTRIBUTION_KIND_RAY));

static_assert(static_cast<int>(lockstep::OutputType::uri_folder) + 1 == OUTPUT_TYPE_URI_FOLDER);
static_assert(static_cast<int>(lockstep::OutputType::uri_file) + 1 == OUTPUT_TYPE_URI_FILE);
static_assert(static_cast<int>(lockstep::OutputMode::rw_mount) + 1 == OUTPUT_MODE_RW_MOUNT);
static_assert(is_wire_of(lockstep::InputType::uri_folder, INPUT_TYPE_URI_FOLDER));
static_assert(is_wire_of(lockstep::InputType::uri_file, INPUT_TYPE_URI_FILE));
static_assert(is_wire_of(lockstep::InputType::mltable, INPUT_TYPE_MLTABLE));
static_assert(is_wire_of(lockstep::InputType::mlflow_model, INPUT_TYPE_MLFLOW_MODEL));
static_assert(is_wire_of(lockstep::InputType::custom_model, INPUT_TYPE_CUSTOM_MODEL));
static_assert(is_wire_of(lockstep::InputType::triton_model, INPUT_TYPE_TRITON_MODEL));
static_assert(is_wire_of(lockstep::InputMode::ro_mount, INPUT_MODE_RO_MOUNT));
static_assert(is_wire_of(lockstep::InputMode::download, INPUT_MODE_DOWNLOAD));
static_assert(is_wire_of(lockstep::InputMode::direct, INPUT_MODE_DIRECT));
static_assert(static_cast<int>(lockstep::OutputMode::upload) + 1 == OUTPUT_MODE_UPLOAD);

static_assert(is_wire_of(lockstep::Cause::completed, CAUSE_COMPLETED));
static_assert(is_wire_of(lockstep::Cause::exit_code, CAUSE_EXIT_CODE));
static_assert(is_wire_of(lockstep::Cause::signal, CAUSE_SIGNAL));
static_assert(is_wire_of(lockstep::Cause::out_of_memory, CAUSE_OUT_OF_MEMORY));
static_assert(is_wire_of(lockstep::Cause::mpi_abort, CAUSE_MPI_ABORT));
static_assert(is_wire_of(lockstep::Cause::exit_without_finalize, CAUSE_EXIT_WITHOUT_FINALIZE));
static_assert(is_wire_of(lockstep::Cause::never_connected, CAUSE_NEVER_CONNECTED));
static_assert(is_wire_of(lockstep::Cause::command_not_found, CAUSE_COMMAND_NOT_FOUND));
static_assert(is_wire_of(lockstep::Cause::command_not_executable, CAUSE_COMMAND_NOT_EXECUTABLE));
static_assert(is_wire_of(lockstep::Cause::timeout, CAUSE_TIMEOUT));
static_assert(is_wire_of(lockstep::Cause::canceled, CAUSE_CANCELED));
static_assert(is_wire_of(lockstep::Cause::workspace_failed, CAUSE_WORKSPACE_FAILED));
static_assert(is_wire_of(lockstep::Cause::start_failed, CAUSE_START_FAILED));
static_assert(is_wire_of(lockstep::Cause::port_taken, CAUSE_PORT_TAKEN));
static_assert(is_wire_of(lockstep::Cause::runner_lost, CAUSE_RUNNER_LOST));
static_assert(is_wire_of(lockstep::Cause::node_lost, CAUSE_NODE_LOST));
static_assert(is_wire_of(lockstep::Cause::account_missing, CAUSE_ACCOUNT_MISSING));
static_assert(is_wire_of(lockstep::Cause::environment_failed, CAUSE_ENVIRONMENT_FAILED));
static_assert(is_wire_of(lockstep::Cause::disk_limit, CAUSE_DISK_LIMIT));
static_assert(is_wire_of(lockstep::Cause::preempted, CAUSE_PREEMPTED));
static_assert(is_wire_of(lockstep::Cause::hang, CAUSE_HANG));
static_assert(is_wire_of(lockstep::Cause::no_rdma, CAUSE_NO_RDMA));

static_assert(static_cast<int>(lockstep::RetryOn::infrastructure) + 1 == RETRY_ON_INFRASTRUCTURE);
static_assert(static_cast<int>(lockstep::RetryOn::node_lost) + 1 == RETRY_ON_NODE_LOST);
static_assert(static_cast<int>(lockstep::RetryOn::runner_lost) + 1 == RETRY_ON_RUNNER_LOST);
static_assert(static_cast<int>(lockstep::RetryOn::out_of_memory) + 1 == RETRY_ON_OUT_OF_MEMORY);
static_assert(static_cast<int>(lockstep::RetryOn::signal) + 1 == RETRY_ON_SIGNAL);
static_assert(static_cast<int>(lockstep::RetryOn::timeout) + 1 == RETRY_ON_TIMEOUT);
static_assert(static_cast<int>(lockstep::RetryOn::exit_code) + 1 == RETRY_ON_EXIT_CODE);
static_assert(is_wire_of(lockstep::Priority::low, PRIORITY_LOW));
static_assert(is_wire_of(lockstep::Priority::medium, PRIORITY_MEDIUM));
static_assert(is_wire_of(lockstep::Priority::high, PRIORITY_HIGH));
static_assert(is_wire_of(lockstep::JobTier::unset, JOB_TIER_UNSET));
static_assert(is_wire_of(lockstep::JobTier::spot, JOB_TIER_SPOT));
static_assert(is_wire_of(lockstep::JobTier::basic, JOB_TIER_BASIC));
static_assert(is_wire_of(lockstep::JobTier::standard, JOB_TIER_STANDARD));
static_assert(is_wire_of(lockstep::JobTier::premium, JOB_TIER_PREMIUM));
static_assert(is_wire_of(lockstep::AfterWhen::completed, AFTER_WHEN_COMPLETED));
static_assert(is_wire_of(lockstep::AfterWhen::ended, AFTER_WHEN_ENDED));
static_assert(static_cast<int>(lockstep::OnLost::immediately) + 1 == ON_LOST_IMMEDIATELY);
static_assert(static_cast<int>(lockstep::OnLost::after_fence) + 1 == ON_LOST_AFTER_FENCE);

// On the wire and in journals, for ever; the enum's own order may change.
int number_of(Rdma rdma) {
  switch (rdma) {
    case Rdma::off: return 0;
    case Rdma::preferred: return 1;
    case Rdma::required: return 2;
  }
  return 0;
}

Status read_rdma(int number, Rdma* to) {
  for (const Rdma rdma : {Rdma::off, Rdma::preferred, Rdma::required}) {
    if (number_of(rdma) != number) continue;
    *to = rdma;
    return {};
  }
  return bad_field("resources.rdma", "has a value that this version does not know");
}

int number_of(TerminalKind terminal) {
  switch (terminal) {
    case TerminalKind::none: return 0;
    case TerminalKind::pty: return 1;
    case TerminalKind::input: return 2;
  }
  return 0;
}

Status read_terminal(int number, TerminalKind* to) {
  for (const TerminalKind terminal : {TerminalKind::none, TerminalKind::pty, TerminalKind::input}) {
    if (number_of(terminal) != number) continue;
    *to = terminal;
    return {};
  }
  return bad_field("terminal", "has a value that this version does not know");
}

int number_of(CoreFile core) {
  switch (core) {
    case CoreFile::off: return 0;
    case CoreFile::backtrace: return 1;
    case CoreFile::keep: return 2;
  }
  return 0;
}

Status read_core(int number, CoreFile* to) {
  for (const CoreFile core : {CoreFile::off, CoreFile::backtrace, CoreFile::keep}) {
    if (number_of(core) != number) continue;
    *to = core;
    return {};
  }
  return bad_field("core", "has a value that this version does not know");
}

void write_resources(const lockstep::ResourceRequest& from, ResourceRequest* to) {
  to->set_instance_count(from.instance_count);
  if (from.cpus) to->set_cpus(*from.cpus);
  if (from.memory) to->set_memory_bytes(from.memory->count);
  if (from.gpus) to->set_gpus(*from.gpus);
  to->set_isolate_gpus(from.isolate_gpus);
  if (from.shm_size) to->set_shm_bytes(from.shm_size->count);
  write_texts(from.docker_args, to->mutable_docker_args());
  to->set_instance_type(from.instance_type);
  to->set_isolated(from.isolated);
  to->set_rdma(number_of(from.rdma));
  write_map(from.labels, to->mutable_labels());
  write_texts(from.nodes, to->mutable_nodes());
}

Status read_resources(const ResourceRequest& from, lockstep::ResourceRequest* to) {
  TRY(read_number(from.instance_count(), 1, kMaxNodesPerJob, "resources.instance_count",
                  &to->instance_count));
  if (from.has_cpus())
    TRY(read_number(from.cpus(), 1, 1 << 20, "resources.cpus", &to->cpus.emplace()));
  if (from.has_memory_bytes()) to->memory = Bytes{from.memory_bytes()};
  if (from.has_gpus())
    TRY(read_number(from.gpus(), 0, 1 << 16, "resources.gpus", &to->gpus.emplace()));
  to->isolate_gpus = from.isolate_gpus();
  if (from.has_shm_bytes()) to->shm_size = Bytes{from.shm_bytes()};
  TRY(read_texts(from.docker_args(), kMaxDockerArgs, "resources.docker_args", &to->docker_args));
  TRY(read_text(from.instance_type(), "resources.instance_type", &to->instance_type));
  to->isolated = from.isolated();
  TRY(read_rdma(from.rdma(), &to->rdma));
  TRY(read_map(from.labels(), 10 * kMaxNodeLabels, "resources.labels", &to->labels));
  return read_texts(from.nodes(), 10 * kMaxNamedNodes, "resources.nodes", &to->nodes);
}

void write_limits(const lockstep::LimitRequest& from, LimitRequest* to) {
  if (from.pids) to->set_pids(*from.pids);
  if (from.log) to->set_log_bytes(from.log->count);
  if (from.disk) to->set_disk_bytes(from.disk->count);
  to->set_required(from.required);
}

Status read_limits(const LimitRequest& from, lockstep::LimitRequest* to) {
  if (from.has_pids())
    TRY(read_number(from.pids(), kLeastPidsLimit, kMostPidsLimit, "limits.pids",
                    &to->pids.emplace()));
  if (from.has_log_bytes()) to->log = Bytes{from.log_bytes()};
  if (from.has_disk_bytes()) to->disk = Bytes{from.disk_bytes()};
  to->required = from.required();
  return {};
}

void write_stop(const lockstep::StopPolicy& from, JobSpec* to) {
  if (from.grace) to->set_grace_ns(from.grace->count());
  if (!from.signal) return;
  to->mutable_early_signal()->set_number(from.signal->number);
  to->mutable_early_signal()->set_before_ns(from.signal->before.count());
}

Status read_stop(const JobSpec& from, lockstep::StopPolicy* to) {
  if (from.has_grace_ns()) TRY(read_duration(from.grace_ns(), "grace", &to->grace.emplace()));
  if (!from.has_early_signal()) return {};
  lockstep::EarlySignal& signal = to->signal.emplace();
  TRY(read_number(from.early_signal().number(), 1, 64, "early_signal.number", &signal.number));
  return read_duration(from.early_signal().before_ns(), "early_signal.before", &signal.before);
}

void write_retry(const lockstep::RetryPolicy& from, RetryPolicy* to) {
  for (lockstep::RetryOn on : from.on) to->add_on(wire_enum<RetryOn>(on));
  to->mutable_exit_codes()->Assign(from.exit_codes.begin(), from.exit_codes.end());
  to->set_backoff_ns(from.backoff.count());
  to->set_on_lost(wire_enum<OnLost>(from.on_lost));
}

Status read_retry(const RetryPolicy& from, lockstep::RetryPolicy* to) {
  TRY(check_count(from.on_size(), kMaxRetryExitCodes, "retry.on"));
  to->on.clear();
  for (const int on : from.on())
    TRY(read_enum(on, lockstep::RetryOn::exit_code, "retry.on", &to->on.emplace_back()));
  TRY(check_count(from.exit_codes_size(), kMaxRetryExitCodes, "retry.exit_codes"));
  for (const int code : from.exit_codes())
    TRY(read_number(code, 1, 255, "retry.exit_codes", &to->exit_codes.emplace_back()));
  TRY(read_duration(from.backoff_ns(), "retry.backoff", &to->backoff));
  return read_enum(from.on_lost(), lockstep::OnLost::after_fence, "retry.on_lost", &to->on_lost);
}

}  // namespace

void to_wire(const lockstep::After& from, After* to) {
  to->set_job(from.job.value);
  to->set_when(wire_enum<AfterWhen>(from.when));
}
Status from_wire(const After& from, lockstep::After* to) {
  TRY(read_text(from.job(), "after.job", &to->job.value, kMaxJobNameBytes));
  return read_enum(from.when(), lockstep::AfterWhen::ended, "after.when", &to->when);
}

namespace {

void write_queue(const lockstep::QueueSettings& from, JobSpec* to) {
  to->set_priority(wire_enum<Priority>(from.priority));
  to->set_job_tier(wire_enum<JobTier>(from.tier));
  write_list(from.after, to->mutable_after());
  to->set_not_before_ns(from.not_before.ns);
  to->set_delay_ns(from.delay.count());
}

Status read_queue(const JobSpec& from, lockstep::QueueSettings* to) {
  if (from.priority() != PRIORITY_UNSPECIFIED)
    TRY(read_priority(from.priority(), "priority", &to->priority));
  TRY(read_list(from.after(), kMaxAfter, "after", &to->after));
  TRY(read_instant(from.not_before_ns(), "not_before", &to->not_before));
  TRY(read_duration(from.delay_ns(), "delay", &to->delay));
  if (from.job_tier() == JOB_TIER_UNSPECIFIED) return {};
  return read_enum(from.job_tier(), lockstep::JobTier::premium, "job_tier", &to->tier);
}

Status read_command(const JobSpec& from, lockstep::Command* to) {
  switch (from.command_case()) {
    case JobSpec::kShell:
      return read_text(from.shell(), "command", &to->emplace<ShellCommand>().text,
                       kMaxCommandBytes);
    case JobSpec::kArgv: {
      std::size_t bytes = 0;
      for (const auto& word : from.argv().words()) bytes += word.size() + 1;
      if (bytes > kMaxCommandBytes) return bad_field("command", "is too long");
      auto& words = to->emplace<lockstep::Argv>().words;
      words.assign(from.argv().words().begin(), from.argv().words().end());
      return {};
    }
    case JobSpec::COMMAND_NOT_SET: break;
  }
  return bad_field("command", "is missing");
}

}  // namespace

void to_wire(const lockstep::DatastorePath& from, DatastorePath* to) {
  to->set_datastore(from.datastore);
  to->set_directory(from.directory);
  to->set_path(from.path);
}

Status from_wire(const DatastorePath& from, lockstep::DatastorePath* to) {
  TRY(read_text(from.datastore(), "place.datastore", &to->datastore));
  TRY(read_text(from.directory(), "place.directory", &to->directory));
  return read_text(from.path(), "place.path", &to->path);
}

void to_wire(const lockstep::OutputSpec& from, OutputSpec* to) {
  to->set_name(from.name);
  to->set_type(wire_enum<OutputType>(from.type));
  to->set_mode(wire_enum<OutputMode>(from.mode));
  to->set_path(from.path);
  if (from.place) to_wire(*from.place, to->mutable_place());
  to->set_remote(from.remote);
  if (from.declared) to->set_declared(wire_enum<InputType>(*from.declared));
  if (!from.asset) return;
  to->mutable_asset()->set_name(from.asset->name);
  to->mutable_asset()->set_version(from.asset->version);
  to->mutable_asset()->set_type(wire_enum<InputType>(from.asset->type));
}

Status read_asset(const OutputAsset& from, lockstep::OutputAsset* to) {
  TRY(read_text(from.name(), "output.asset.name", &to->name));
  TRY(read_text(from.version(), "output.asset.version", &to->version));
  return read_enum(from.type(), lockstep::InputType::triton_model, "output.asset.type", &to->type);
}

// The name becomes part of paths; validate() looks at it once all are here.
Status from_wire(const OutputSpec& from, lockstep::OutputSpec* to) {
  TRY(read_text(from.name(), "output.name", &to->name));
  TRY(read_enum(from.type(), lockstep::OutputType::uri_file, "output.type", &to->type));
  TRY(read_text(from.path(), "output.path", &to->path));
  if (from.has_place()) TRY(from_wire(from.place(), &to->place.emplace()));
  TRY(read_text(from.remote(), "output.remote", &to->remote));
  if (from.has_asset()) TRY(read_asset(from.asset(), &to->asset.emplace()));
  if (from.declared() != INPUT_TYPE_UNSPECIFIED)
    TRY(read_enum(from.declared(), lockstep::InputType::triton_model, "output.declared",
                  &to->declared.emplace()));
  return read_enum(from.mode(), lockstep::OutputMode::upload, "output.mode", &to->mode);
}

void to_wire(const lockstep::DataInput& from, DataInput* to) {
  to->set_name(from.name);
  to->set_type(wire_enum<InputType>(from.type));
  to->set_mode(wire_enum<InputMode>(from.mode));
  to->set_source(from.source);
  if (from.tree) to->set_tree(std::string(from.tree->view()));
  to->set_file(from.file);
  to->set_address(from.address);
  to->set_is_type_open(from.is_type_open);
  if (from.place) to_wire(*from.place, to->mutable_place());
}

// What of it must fit together, validate() says once all are here.
Status from_wire(const DataInput& from, lockstep::DataInput* to) {
  TRY(read_text(from.name(), "input.name", &to->name));
  TRY(read_enum(from.type(), lockstep::InputType::triton_model, "input.type", &to->type));
  TRY(read_enum(from.mode(), lockstep::InputMode::rw_mount, "input.mode", &to->mode));
  TRY(read_text(from.source(), "input.source", &to->source));
  if (from.has_tree()) TRY(read_digest(from.tree(), "input.tree", &to->tree.emplace()));
  TRY(read_text(from.file(), "input.file", &to->file));
  to->is_type_open = from.is_type_open();
  if (from.has_place()) TRY(from_wire(from.place(), &to->place.emplace()));
  return read_text(from.address(), "input.address", &to->address);
}

namespace {

void write_ray(const lockstep::RaySettings& from, RaySettings* to) {
  to->set_address(from.address);
  if (from.port) to->set_port(*from.port);
  to->set_include_dashboard(from.include_dashboard);
  if (from.dashboard_port) to->set_dashboard_port(*from.dashboard_port);
  write_texts(from.head_arguments, to->mutable_head_arguments());
  write_texts(from.worker_arguments, to->mutable_worker_arguments());
}

Status read_ray(const RaySettings& from, lockstep::RaySettings* to) {
  TRY(read_text(from.address(), "ray.address", &to->address, kMaxRayAddressBytes));
  if (from.has_port()) TRY(read_number(from.port(), 1, 65'535, "ray.port", &to->port.emplace()));
  to->include_dashboard = from.include_dashboard();
  if (from.has_dashboard_port())
    TRY(read_number(from.dashboard_port(), 1, 65'535, "ray.dashboard_port",
                    &to->dashboard_port.emplace()));
  TRY(read_texts(from.head_arguments(), kMaxRayArguments, "ray.head_arguments",
                 &to->head_arguments));
  return read_texts(from.worker_arguments(), kMaxRayArguments, "ray.worker_arguments",
                    &to->worker_arguments);
}

void write_distribution(const lockstep::JobSpec& from, JobSpec* to) {
  auto* distribution = to->mutable_distribution();
  distribution->set_kind(wire_enum<DistributionKind>(from.distribution.kind));
  distribution->set_processes_per_node(from.distribution.processes_per_node);
  to->set_worker_count(from.distribution.workers);
  to->set_parameter_server_count(from.distribution.parameter_servers);
  if (from.distribution.ray != lockstep::RaySettings())
    write_ray(from.distribution.ray, to->mutable_ray());
  to->set_binding(static_cast<int>(from.binding));
}

Status read_distribution(const JobSpec& from, lockstep::JobSpec* to) {
  lockstep::Distribution& distribution = to->distribution;
  TRY(read_enum(from.distribution().kind(), lockstep::Distribution::Kind::ray, "distribution.kind",
                &distribution.kind));
  TRY(read_number(from.distribution().processes_per_node(), 1, kMaxRanksPerNode,
                  "distribution.processes_per_node", &distribution.processes_per_node));
  TRY(read_number(from.worker_count(), 0, kMaxRankNumber, "worker_count", &distribution.workers));
  TRY(read_number(from.parameter_server_count(), 0, kMaxRankNumber, "parameter_server_count",
                  &distribution.parameter_servers));
  if (from.has_ray()) TRY(read_ray(from.ray(), &distribution.ray));
  int binding = 0;
  TRY(read_number(from.binding(), 0, static_cast<int>(lockstep::Binding::core), "binding",
                  &binding));
  to->binding = static_cast<lockstep::Binding>(binding);
  return {};
}

}  // namespace

void to_wire(const lockstep::JobSpec& from, JobSpec* to) {
  to->set_name(from.name);
  to->set_display_name(from.display_name);
  to->set_experiment_name(from.experiment_name);
  to->set_description(from.description);
  write_map(from.tags, to->mutable_tags());
  to->set_compute(from.compute);
  if (from.pipeline)
    to_wire(*from.pipeline, to->mutable_pipeline());
  else if (const auto* shell = std::get_if<ShellCommand>(&from.command))
    to->set_shell(shell->text);
  else
    write_texts(std::get<lockstep::Argv>(from.command).words, to->mutable_argv()->mutable_words());
  write_map(from.environment_variables, to->mutable_environment_variables());
  write_map(from.inputs, to->mutable_inputs());
  write_list(from.outputs, to->mutable_outputs());
  write_distribution(from, to);
  write_resources(from.resources, to->mutable_resources());
  if (from.timeout) to->set_timeout_ns(from.timeout->count());
  to->set_retry_max(from.retry.max);
  if (from.snapshot) to->set_snapshot(std::string(from.snapshot->view()));
  to->set_submitter(from.submitter);
  to->set_project(from.project);
  if (from.limits != lockstep::LimitRequest()) write_limits(from.limits, to->mutable_limits());
  to->set_run_as(from.run_as);
  write_retry(from.retry, to->mutable_retry());
  to->set_checkpoint_every_ns(from.checkpoint.every.count());
  if (from.environment) to_wire(*from.environment, to->mutable_environment());
  write_texts(from.keep, to->mutable_keep());
  to->set_from_checkpoint_of(from.from_checkpoint_of.value);
  if (const auto* text = from.compute_why.as<Told>())
    to->set_compute_why(fitting_text(text->text));
  else if (from.compute_why)
    to_wire(from.compute_why, to->mutable_compute_why_data());
  write_queue(from.queue, to);
  write_list(from.data, to->mutable_data());
  to->set_parent(from.parent.value);
  to->set_step(from.step);
  to->set_parent_attempt(from.parent_attempt);
  if (from.array) to_wire(*from.array, to->mutable_array());
  if (from.replaced_environment)
    to_wire(*from.replaced_environment, to->mutable_replaced_environment());
  write_stop(from.stop, to);
  to->set_terminal(number_of(from.terminal));
  write_hang(from.hang, to);
  to->set_core(number_of(from.core));
  write_map(from.metric_lines, to->mutable_metric_lines());
}

Status from_wire(const JobSpec& from, lockstep::JobSpec* to) {
  TRY(read_text(from.name(), "name", &to->name));
  TRY(read_text(from.display_name(), "display_name", &to->display_name));
  TRY(read_text(from.experiment_name(), "experiment_name", &to->experiment_name));
  TRY(read_text(from.description(), "description", &to->description, 1u << 20));
  TRY(read_map(from.tags(), kMaxEntries, "tags", &to->tags));
  TRY(read_text(from.compute(), "compute", &to->compute));
  if (from.has_pipeline())
    TRY(from_wire(from.pipeline(), &to->pipeline));
  else
    TRY(read_command(from, &to->command));
  TRY(read_map(from.environment_variables(), kMaxEntries, "environment_variables",
               &to->environment_variables));
  TRY(read_map(from.inputs(), kMaxEntries, "inputs", &to->inputs));
  TRY(read_list(from.outputs(), kMaxOutputs, "outputs", &to->outputs));
  TRY(validate(to->outputs));
  TRY(read_distribution(from, to));
  TRY(read_resources(from.resources(), &to->resources));
  if (from.has_timeout_ns())
    TRY(read_duration(from.timeout_ns(), "timeout", &to->timeout.emplace()));
  TRY(read_number(from.retry_max(), 0, 1'000'000, "retry.max", &to->retry.max));
  if (from.has_snapshot()) TRY(read_digest(from.snapshot(), "snapshot", &to->snapshot.emplace()));
  TRY(read_text(from.submitter(), "submitter", &to->submitter));
  TRY(read_text(from.project(), "project", &to->project));
  TRY(read_limits(from.limits(), &to->limits));
  if (from.has_retry()) TRY(read_retry(from.retry(), &to->retry));
  if (from.has_checkpoint_every_ns())
    TRY(read_duration(from.checkpoint_every_ns(), "checkpoint.every", &to->checkpoint.every));
  if (from.has_environment()) TRY(from_wire(from.environment(), &to->environment.emplace()));
  TRY(read_texts(from.keep(), kMaxKeepPatterns, "keep", &to->keep));
  TRY(validate_keep(to->keep));
  TRY(read_why(from.compute_why(), from.has_compute_why_data(), from.compute_why_data(),
               "compute_why", &to->compute_why));
  TRY(read_text(from.from_checkpoint_of(), "from_checkpoint_of", &to->from_checkpoint_of.value,
                kMaxJobNameBytes));
  TRY(read_queue(from, &to->queue));
  TRY(read_list(from.data(), kMaxDataInputs, "inputs", &to->data));
  TRY(validate(to->data));
  TRY(read_text(from.parent(), "parent", &to->parent.value, kMaxJobNameBytes));
  TRY(read_text(from.step(), "step", &to->step, kMaxStepNameBytes));
  to->parent_attempt = from.parent_attempt();
  if (from.has_array()) TRY(from_wire(from.array(), &to->array.emplace()));
  if (from.has_replaced_environment())
    TRY(from_wire(from.replaced_environment(), &to->replaced_environment.emplace()));
  TRY(read_stop(from, &to->stop));
  TRY(read_terminal(from.terminal(), &to->terminal));
  TRY(read_hang(from, &to->hang));
  TRY(read_core(from.core(), &to->core));
  TRY(read_map(from.metric_lines(), lockstep::kMaxMetricLines, "metric_lines", &to->metric_lines));
  return read_text(from.run_as(), "run_as", &to->run_as);
}

Status read_priority(int value, const char* field, lockstep::Priority* out) {
  return read_enum(value, lockstep::Priority::high, field, out);
}

Status read_job_status(int value, const char* field, lockstep::JobStatus* out) {
  return read_enum(value, lockstep::JobStatus::canceled, field, out);
}

Status read_cause(int value, const char* field, lockstep::Cause* out) {
  return read_enum(value, lockstep::Cause::no_rdma, field, out);
}

namespace {

void write_lost_peer(const lockstep::LostPeer& from, LostPeer* to) {
  to->set_address(from.address);
  to->set_node_rank(from.node_rank + 1);
  if (from.end) to_wire(*from.end, to->mutable_end());
  to->set_left(from.left);
}

Status read_lost_peer(const LostPeer& from, lockstep::LostPeer* to) {
  TRY(read_text(from.address(), "lost_peer.address", &to->address, kMaxPeerAddressBytes));
  TRY(read_number(from.node_rank(), 0, kMaxNodesPerJob, "lost_peer.node_rank", &to->node_rank));
  --to->node_rank;
  if (from.has_end()) TRY(from_wire(from.end(), &to->end.emplace()));
  to->left = from.left();
  return {};
}

}  // namespace

void to_wire(const lockstep::RankExit& from, RankExit* to) {
  to->set_rank(from.rank);
  to->set_local_rank(from.local_rank);
  to->set_exit_code(from.exit_code);
  to->set_signal(from.signal);
  to->set_cause(wire_enum<Cause>(from.cause));
  to->set_terminated_by_us(from.terminated_by_us);
  to->set_started(from.started);
  to->set_time_ns(from.time.ns);
  to->set_stderr_tail(fitting_text(from.stderr_tail));
  write_why(from.why, to->mutable_detail(), [&] { return to->mutable_why_data(); });
  to->set_cpu_time_ns(from.cpu_time.count());
  to->set_peak_memory_bytes(from.peak_memory.count);
  to->set_read_bytes(from.read.count);
  to->set_written_bytes(from.written.count);
  if (from.lost_peer) write_lost_peer(*from.lost_peer, to->mutable_lost_peer());
  to->set_backtrace(fitting_text(from.backtrace));
}

Status from_wire(const RankExit& from, lockstep::RankExit* to) {
  TRY(read_rank(from.rank(), "rank_exit.rank", &to->rank));
  TRY(read_rank(from.local_rank(), "rank_exit.local_rank", &to->local_rank));
  to->exit_code = from.exit_code();
  TRY(read_number(from.signal(), 0, 128, "rank_exit.signal", &to->signal));
  TRY(read_cause(from.cause(), "rank_exit.cause", &to->cause));
  to->terminated_by_us = from.terminated_by_us();
  to->started = from.started();
  TRY(read_instant(from.time_ns(), "rank_exit.time", &to->time));
  TRY(read_text(from.stderr_tail(), "rank_exit.stderr_tail", &to->stderr_tail));
  TRY(read_duration(from.cpu_time_ns(), "rank_exit.cpu_time", &to->cpu_time));
  to->peak_memory = Bytes{from.peak_memory_bytes()};
  to->read = Bytes{from.read_bytes()};
  to->written = Bytes{from.written_bytes()};
  if (from.has_lost_peer()) TRY(read_lost_peer(from.lost_peer(), &to->lost_peer.emplace()));
  TRY(read_text(from.backtrace(), "rank_exit.backtrace", &to->backtrace));
  return read_why(from.detail(), from.has_why_data(), from.why_data(), "rank_exit.detail",
                  &to->why);
}

void to_wire(const lockstep::RankEnd& from, RankEnd* to) {
  to->set_rank(from.rank);
  to->set_exit_code(from.exit_code);
  to->set_signal(from.signal);
  to->set_started(from.started);
  to->set_terminated_by_us(from.terminated_by_us);
  to->set_failed(from.failed);
  to->set_time_ns(from.time.ns);
}

Status from_wire(const RankEnd& from, lockstep::RankEnd* to) {
  TRY(read_rank(from.rank(), "rank_end.rank", &to->rank));
  to->exit_code = from.exit_code();
  TRY(read_number(from.signal(), 0, 128, "rank_end.signal", &to->signal));
  to->started = from.started();
  to->terminated_by_us = from.terminated_by_us();
  to->failed = from.failed();
  return read_instant(from.time_ns(), "rank_end.time", &to->time);
}

void to_wire(const lockstep::LogSize& from, LogSize* to) {
  to->set_rank(from.rank);
  to->set_stdout_bytes(from.stdout_bytes);
  to->set_stderr_bytes(from.stderr_bytes);
  to->set_environment_bytes(from.environment_bytes);
}

Status from_wire(const LogSize& from, lockstep::LogSize* to) {
  TRY(read_rank(from.rank(), "log_size.rank", &to->rank));
  to->stdout_bytes = from.stdout_bytes();
  to->stderr_bytes = from.stderr_bytes();
  to->environment_bytes = from.environment_bytes();
  return {};
}

void to_wire(const lockstep::PeerAbort& from, PeerAbort* to) {
  to->set_node_rank(from.node_rank);
  to_wire(from.first, to->mutable_first());
  write_why(from.why, to->mutable_message(), [&] { return to->mutable_why_data(); });
}

Status from_wire(const PeerAbort& from, lockstep::PeerAbort* to) {
  TRY(read_rank(from.node_rank(), "aborted_by.node_rank", &to->node_rank));
  TRY(from_wire(from.first(), &to->first));
  return read_why(from.message(), from.has_why_data(), from.why_data(), "aborted_by.message",
                  &to->why);
}

void to_wire(const lockstep::NodeExitReport& from, NodeExitReport* to) {
  to->set_cause(wire_enum<Cause>(from.cause));
  if (from.first_failed_rank) to->set_first_failed_rank(*from.first_failed_rank);
  write_why(from.why, to->mutable_message(), [&] { return to->mutable_why_data(); });
  write_list(from.ranks, to->mutable_ranks());
  write_list(from.logs, to->mutable_logs());
  to->set_started_ns(from.started.ns);
  to->set_ended_ns(from.ended.ns);
  write_whys(from.limits, to->mutable_limits(), to->mutable_limits_data());
  write_whys(from.notes, to->mutable_notes(), to->mutable_notes_data());
  if (from.aborted_by) to_wire(*from.aborted_by, to->mutable_aborted_by());
  to->set_hopeless(from.hopeless);
  to->set_log_times_bytes(from.log_times.count);
  to->set_absent(from.absent);
  if (from.hang) to_wire(*from.hang, to->mutable_hang());
}

Status from_wire(const NodeExitReport& from, lockstep::NodeExitReport* to) {
  TRY(read_cause(from.cause(), "exit.cause", &to->cause));
  if (from.has_first_failed_rank())
    TRY(read_rank(from.first_failed_rank(), "exit.first_failed_rank",
                  &to->first_failed_rank.emplace()));
  TRY(read_why(from.message(), from.has_why_data(), from.why_data(), "exit.message", &to->why));
  TRY(read_list(from.ranks(), kMaxRanksInReport, "exit.ranks", &to->ranks));
  TRY(read_list(from.logs(), kMaxRanksInReport, "exit.logs", &to->logs));
  TRY(read_instant(from.started_ns(), "exit.started", &to->started));
  TRY(read_whys(from.limits(), from.limits_data(), kMaxLimitLines, "exit.limits", &to->limits));
  TRY(read_whys(from.notes(), from.notes_data(), kMaxNoteLines, "exit.notes", &to->notes));
  if (from.has_aborted_by()) TRY(from_wire(from.aborted_by(), &to->aborted_by.emplace()));
  to->hopeless = from.hopeless();
  to->log_times = Bytes{from.log_times_bytes()};
  to->absent = from.absent();
  if (from.has_hang()) TRY(from_wire(from.hang(), &to->hang.emplace()));
  return read_instant(from.ended_ns(), "exit.ended", &to->ended);
}

void to_wire(const lockstep::ClockOffset& from, ClockOffset* to) {
  to->set_ahead_ns(from.ahead.count());
  to->set_uncertainty_ns(from.uncertainty.count());
}

Status from_wire(const ClockOffset& from, lockstep::ClockOffset* to) {
  const bool is_behind = from.ahead_ns() < 0;
  TRY(read_duration(is_behind ? -(from.ahead_ns() + 1) : from.ahead_ns(), "clock.ahead",
                    &to->ahead));
  if (is_behind) to->ahead = -to->ahead - Duration(1);
  return read_duration(from.uncertainty_ns(), "clock.uncertainty", &to->uncertainty);
}

void to_wire(const lockstep::PossibleFirst& from, PossibleFirst* to) {
  to->set_cause(wire_enum<Cause>(from.cause));
  if (from.rank) to->set_rank(*from.rank);
  to->set_node(from.node.value);
  to->set_node_name(from.node_name);
  to->set_time_ns(from.time.ns);
  to->set_message(fitting_text(from.message));
  if (from.why) to_wire(from.why, to->mutable_why_data());
}

Status from_wire(const PossibleFirst& from, lockstep::PossibleFirst* to) {
  TRY(read_cause(from.cause(), "also.cause", &to->cause));
  if (from.has_rank()) TRY(read_rank(from.rank(), "also.rank", &to->rank.emplace()));
  to->node = NodeId(from.node());
  TRY(read_text(from.node_name(), "also.node_name", &to->node_name));
  TRY(read_instant(from.time_ns(), "also.time", &to->time));
  TRY(read_why(from.message(), from.has_why_data(), from.why_data(), "also.message", &to->why));
  return read_text(from.message(), "also.message", &to->message);
}

void to_wire(const lockstep::NodeClock& from, NodeClock* to) {
  to->set_node_name(from.node_name);
  to_wire(from.offset, to->mutable_offset());
}

Status from_wire(const NodeClock& from, lockstep::NodeClock* to) {
  TRY(read_text(from.node_name(), "clocks.node_name", &to->node_name));
  return from_wire(from.offset(), &to->offset);
}

void to_wire(const lockstep::ExitReport& from, ExitReport* to) {
  to->set_cause(wire_enum<Cause>(from.cause));
  to->set_exit_code(from.exit_code);
  if (from.rank) to->set_rank(*from.rank);
  to->set_node(from.node.value);
  to->set_node_name(from.node_name);
  to->set_time_ns(from.time.ns);
  to->set_message(fitting_text(from.message));
  if (from.why) to_wire(from.why, to->mutable_why_data());
  to->set_stderr_tail(fitting_text(from.stderr_tail));
  to->mutable_terminated_ranks()->Assign(from.terminated_ranks.begin(),
                                         from.terminated_ranks.end());
  write_list(from.also, to->mutable_also());
  write_list(from.clocks, to->mutable_clocks());
  to->set_lifetime_ns(from.lifetime.count());
  if (from.hang) to_wire(*from.hang, to->mutable_hang());
  if (from.lost_peer) write_lost_peer(*from.lost_peer, to->mutable_lost_peer());
  to->set_backtrace(fitting_text(from.backtrace));
}

Status from_wire(const ExitReport& from, lockstep::ExitReport* to) {
  TRY(read_cause(from.cause(), "report.cause", &to->cause));
  to->exit_code = from.exit_code();
  if (from.has_rank()) TRY(read_rank(from.rank(), "report.rank", &to->rank.emplace()));
  to->node = NodeId(from.node());
  TRY(read_text(from.node_name(), "report.node_name", &to->node_name));
  TRY(read_instant(from.time_ns(), "report.time", &to->time));
  TRY(read_text(from.message(), "report.message", &to->message));
  if (from.has_why_data())
    TRY(from_wire(from.why_data(), &to->why));
  else
    to->why = end_of_old(to->message, to->cause, to->node_name);
  TRY(read_text(from.stderr_tail(), "report.stderr_tail", &to->stderr_tail));
  TRY(check_count(from.terminated_ranks_size(), kMaxRankNumber, "report.terminated_ranks"));
  for (const int rank : from.terminated_ranks())
    TRY(read_rank(rank, "report.terminated_ranks", &to->terminated_ranks.emplace_back()));
  TRY(read_list(from.also(), kMaxPossibleFirst, "report.also", &to->also));
  TRY(read_duration(from.lifetime_ns(), "report.lifetime", &to->lifetime));
  if (from.has_hang()) TRY(from_wire(from.hang(), &to->hang.emplace()));
  if (from.has_lost_peer()) TRY(read_lost_peer(from.lost_peer(), &to->lost_peer.emplace()));
  TRY(read_text(from.backtrace(), "report.backtrace", &to->backtrace));
  return read_list(from.clocks(), kMaxNodeClocks, "report.clocks", &to->clocks);
}

}  // namespace lockstep::pb
