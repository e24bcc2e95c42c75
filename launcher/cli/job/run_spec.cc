#include "launcher/cli/job/run_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "common/base/quoted_name.h"
#include "common/domain/environment/docker_args.h"
#include "common/domain/targets/compute.h"
#include "common/domain/targets/node_labels.h"
#include "common/grammar/job_name.h"
#include "launcher/cli/job/environment_choice.h"
#include "launcher/cli/job/environment_variables.h"
#include "launcher/cli/job/key_words.h"
#include "launcher/cli/targets/compute_options.h"
#include "launcher/files/environment/venv_reader.h"
#include "launcher/files/job/retry_reader.h"
#include "launcher/files/yaml/faults.h"

namespace lockstep::cli {

namespace {

Error wrong(std::string message) {
  return make_error(ErrorCode::invalid_argument, "run: " + std::move(message));
}

// Reads the ranks. With tensorflow all are workers; only a job file can ask for parameter servers.
Status read_ranks(const RunArguments& arguments, JobSpec& spec) {
  const auto kind = distribution_kind_from(arguments.distribution);
  if (!kind)
    return wrong(fmt::format("--distribution '{}' is not mpi, pytorch, tensorflow, ray or none",
                             arguments.distribution));
  const int ranks = arguments.ranks.value_or(1);
  const int nodes = spec.resources.instance_count;
  if (kind == Distribution::Kind::tensorflow) {
    spec.distribution = tensorflow_on(nodes, nodes * ranks, 0);
  } else {
    spec.distribution.kind = *kind;
    spec.distribution.processes_per_node = ranks;
  }
  if (arguments.binding.empty()) return {};
  const auto binding = binding_from(arguments.binding);
  if (!binding)
    return wrong(fmt::format("--binding '{}' is not auto, none, numa or core", arguments.binding));
  spec.binding = *binding;
  return {};
}

Status check_text(std::string_view option, const std::string& text) {
  const Status good = spec::check_text(spec::Source{"", text});
  if (good) return {};
  return wrong(fmt::format("{}: is not UTF-8 text, or holds control characters", option));
}

// Options that mean nothing without an environment, or without a container. `other`: an option
// that makes the environment, or "".
Status check_needs(const RunArguments& a, std::string_view other) {
  if (a.rebuild && a.environment.empty() && other.empty())
    return wrong(
        "--rebuild needs an environment; name one with --environment, --requirements, --pip, "
        "--conda-file or --image");
  const std::string_view container = !a.shm_size.empty()      ? "--shm-size"
                                     : !a.docker_args.empty() ? "--docker-args"
                                                              : "";
  if (!container.empty() && a.image.empty() && a.environment.empty())
    return wrong(fmt::format(
        "{} needs a container; name an image with --image, or an environment with --environment",
        container));
  return {};
}

// Reports options that contradict each other.
Status check_choice(const RunArguments& a) {
  const std::string_view packages = !a.requirements.empty() ? "--requirements"
                                    : !a.pip.empty()        ? "--pip"
                                                            : "";
  const std::string_view conda = a.conda_file.empty() ? "" : "--conda-file";
  const std::string_view image = a.image.empty() ? "" : "--image";
  const std::string_view interpreter = a.interpreter.empty() ? "" : "--interpreter";
  const auto first = [](std::initializer_list<std::string_view> words) {
    return *std::find_if(words.begin(), words.end() - 1, [](auto word) { return !word.empty(); });
  };
  const std::string_view other = first({packages, conda, image, interpreter});
  if (!a.environment.empty() && !other.empty())
    return wrong(
        fmt::format("--environment already names a whole environment; leave {0} out, or put {0} "
                    "into an environment file",
                    other));
  if (!image.empty() && !interpreter.empty())
    return wrong(
        "--interpreter is a Python of the nodes, but --image brings its own Python; leave one of "
        "them out");
  if (!image.empty() && !packages.empty())
    return wrong(
        fmt::format("--image and {} cannot be combined; to install packages on an image, use "
                    "--conda-file, with pip packages among its dependencies: - pip: [six]",
                    packages));
  const std::string_view installs = first({packages, conda});
  if (!interpreter.empty() && !installs.empty())
    return wrong(fmt::format(
        "--interpreter is used as it is, but {} installs packages; leave one of them out",
        installs));
  if (!conda.empty() && !packages.empty())
    return wrong(
        fmt::format("--conda-file already names a whole environment; leave {} out, or put its "
                    "packages among the dependencies in the conda file: - pip: [six]",
                    packages));
  return check_needs(a, other);
}

Result<VenvEnvironment> packages_of(const RunArguments& arguments, spec::Notes& notes) {
  VenvEnvironment venv;
  if (!arguments.requirements.empty()) {
    const Status read = spec::load_requirements(arguments.requirements, spec::read_text_file, venv);
    if (!read && read.error().code != ErrorCode::invalid_argument)
      return read.error().within("run: --requirements");
    if (!read) return read.error();
  }
  spec::Faults faults;
  for (const auto& requirement : arguments.pip) {
    TRY(check_text("--pip", requirement));
    if (const Status added = spec::add_requirement(requirement, venv); !added)
      faults.add({}, wrong("--pip " + added.error().message));
  }
  TRY(faults.status());
  if (venv.requirements.empty()) {
    const bool of_file = !arguments.requirements.empty();
    notes.push_back(
        spec::warning_of_empty(of_file ? "--requirements " + arguments.requirements : "--pip"));
  }
  return venv;
}

Status read_container(const RunArguments& arguments, ResourceRequest& resources) {
  if (!arguments.shm_size.empty()) {
    resources.shm_size = parse_bytes(arguments.shm_size);
    if (!resources.shm_size)
      return wrong(
          fmt::format("--shm-size '{}' is not a size; write 512m or 2g", arguments.shm_size));
  }
  TRY(check_text("--docker-args", arguments.docker_args));
  auto words = split_docker_args(arguments.docker_args);
  if (!words) return wrong(with_flags(words.error().message));
  resources.docker_args = *std::move(words);
  return {};
}

Status read_queue(const RunArguments& arguments, QueueSettings& queue) {
  queue.priority = priority_from(arguments.priority).value_or(queue.priority);
  for (const std::string& word : arguments.after) {
    auto after = after_from(word);
    if (!after) return wrong("--after: " + after.error().message);
    queue.after.push_back(*std::move(after));
  }
  if (arguments.begin.empty()) return {};
  if (const Status read = read_not_before(arguments.begin, &queue); !read)
    return wrong("--begin: " + read.error().message);
  return {};
}

Status read_keep(const RunArguments& arguments, std::vector<std::string>& keep) {
  for (const std::string& pattern : arguments.keep)
    if (const std::string fault = fault_of_keep(pattern); !fault.empty())
      return wrong(fmt::format("--keep {}: {}", quoted_name(pattern), fault));
  keep = arguments.keep;
  return {};
}

Status read_limits(const RunArguments& arguments, LimitRequest& limits) {
  limits.pids = arguments.pids_limit;
  limits.required = arguments.require_limits;
  const auto read = [](const char* option, const std::string& text, std::optional<Bytes>& limit) {
    if (text.empty()) return Status();
    limit = parse_bytes(text);
    if (limit) return Status();
    return Status(wrong(fmt::format("{} '{}' is not a size; write 512m or 2g", option, text)));
  };
  TRY(read("--log-limit", arguments.log_limit, limits.log));
  return read("--disk-limit", arguments.disk_limit, limits.disk);
}

// The nodes that may run the job. As in Slurm, -w without -N means all named nodes.
Status read_placement(const RunArguments& arguments, ResourceRequest& resources) {
  resources.instance_type = arguments.instance_type;
  resources.isolated = arguments.isolated;
  if (!arguments.rdma.empty()) {
    const auto rdma = rdma_from(arguments.rdma);
    if (!rdma)
      return wrong(fmt::format("--rdma '{}' is not required, preferred or off", arguments.rdma));
    resources.rdma = *rdma;
  }
  for (const std::string& label : arguments.labels) {
    const auto equals = label.find('=');
    if (equals == std::string::npos)
      return wrong(fmt::format("--label '{}' has no '='; write KEY=VALUE", label));
    const std::string key = label.substr(0, equals), value = label.substr(equals + 1);
    if (const Status good = check_label_key(key); !good)
      return wrong("--label: " + good.error().message);
    if (const Status good = check_label_value(value); !good)
      return wrong("--label: " + good.error().message);
    if (!resources.labels.emplace(key, value).second)
      return wrong(fmt::format("--label: '{}' is given twice", key));
  }
  if (!arguments.nodelist.empty()) resources.nodes = split_at_commas({arguments.nodelist});
  const std::size_t named = std::max<std::size_t>(resources.nodes.size(), 1);
  resources.instance_count = arguments.nodes.value_or(static_cast<int>(named));
  return {};
}

Status read_memory(const RunArguments& arguments, ResourceRequest& resources) {
  if (arguments.memory.empty()) return {};
  resources.memory = parse_bytes(arguments.memory);
  if (!resources.memory)
    return wrong(fmt::format("--memory '{}' is not a size; write 512m or 2g", arguments.memory));
  if (*resources.memory < mebibytes(1))
    return wrong(fmt::format("--memory '{}' is {}, too small to run in; write 512m or 2g",
                             arguments.memory, to_string(*resources.memory)));
  return {};
}

Status read_checkpoint(const RunArguments& arguments, JobSpec& spec) {
  const std::string& from = arguments.from_checkpoint_of;
  if (from.empty()) return {};
  if (const Status named = validate_job_name(from); !named)
    return named.error().within("--from-checkpoint-of");
  spec.from_checkpoint_of = JobId(from);
  return {};
}

Status read_timeout(const RunArguments& arguments, JobSpec& spec) {
  if (arguments.timeout.empty()) return {};
  const Duration timeout = parse_duration(arguments.timeout);
  if (timeout == Duration::zero())
    return wrong(
        fmt::format("--timeout '{}' would end the job at once; leave it out to set no limit",
                    arguments.timeout));
  if (timeout <= Duration::zero())
    return wrong(fmt::format("--timeout '{}' is not a time; write seconds, or 90s, 5m, 2h, 1d",
                             arguments.timeout));
  spec.timeout = timeout;
  return {};
}

Status read_terminal(const RunArguments& arguments, JobSpec& spec) {
  spec.terminal = arguments.terminal;
  const bool has_terminal = spec.terminal != TerminalKind::none;
  spec.retry.max = arguments.retry.value_or(has_terminal ? 0 : spec.retry.max);
  if (has_terminal && arguments.retry.value_or(0) > 0)
    return wrong(
        "--retry: what was written to rank 0 is gone when it is tried again; leave it out");
  if (const char* term = std::getenv("TERM"); term != nullptr && spec.terminal == TerminalKind::pty)
    spec.environment_variables.try_emplace("TERM", term);
  return {};
}

Status read_troubles(const RunArguments& arguments, JobSpec& spec) {
  if (!arguments.hang_after.empty()) {
    const auto after = hang_after_from(arguments.hang_after);
    if (!after) return wrong("--hang-after " + after.error().message);
    spec.hang.after = *after;
  }
  if (!arguments.on_hang.empty()) {
    const auto on = on_hang_from(arguments.on_hang);
    if (!on)
      return wrong(
          fmt::format("--on-hang '{}' is not report, stacks, fail or retry", arguments.on_hang));
    spec.hang.on = *on;
  }
  if (arguments.core.empty()) return {};
  const auto core = core_file_from(arguments.core);
  if (!core) return wrong(fmt::format("--core '{}' is not off, backtrace or keep", arguments.core));
  spec.core = *core;
  return {};
}

// Reads a conda file. An error without a line in the file gets the option's name.
Result<spec::ReadEnvironment> conda_of(const std::string& path, spec::Notes& notes) {
  bool opened = false;
  const spec::ReadText noticing = [&](const std::string& file) {
    auto text = spec::read_text_file(file);
    opened = opened || text;
    return text;
  };
  auto environment = spec::load_conda_environment(path, noticing, notes);
  if (environment || opened) return environment;
  return environment.error().within("run: --conda-file");
}

// Packages of the conda file, if there is one, are installed on the image.
void put_on_image(const std::string& image, EnvironmentDefinition& definition) {
  DockerEnvironment docker{image, std::nullopt, std::nullopt};
  if (auto* conda = std::get_if<CondaEnvironment>(&definition)) docker.conda = std::move(*conda);
  definition = std::move(docker);
}

}  // namespace

JobSpec spec_of(const RunArguments& arguments, spec::Faults& faults) {
  const auto add = [&](const Status& status) { faults.add({}, status); };
  JobSpec spec;
  spec.name = arguments.name;
  spec.project = arguments.project;
  spec.compute = without_azureml(arguments.compute);
  if (!spec.compute.empty())
    if (const Status named = check_compute_name(spec.compute); !named)
      add(wrong("--compute: " + named.error().message));
  spec.experiment_name = "Default";
  if (const Status texts = apply_texts(arguments, spec); !texts) add(texts.error().within("run"));
  spec.command = Argv{arguments.command};
  for (const std::string& file : arguments.env_files)
    add(read_env_file(file, spec.environment_variables));
  add(read_env_words(arguments.env, spec.environment_variables));
  add(read_secret_words(arguments.secrets, spec.environment_variables));
  add(read_placement(arguments, spec.resources));
  add(read_ranks(arguments, spec));
  spec.resources.cpus = arguments.cpus;
  spec.resources.gpus = arguments.gpus;
  add(read_memory(arguments, spec.resources));
  add(read_container(arguments, spec.resources));
  add(read_limits(arguments, spec.limits));
  add(read_keep(arguments, spec.keep));
  add(read_queue(arguments, spec.queue));
  add(read_checkpoint(arguments, spec));
  add(read_timeout(arguments, spec));
  if (const Status stop = read_stop(arguments, spec.stop); !stop) add(stop.error().within("run"));
  if (const Status terminal = read_terminal(arguments, spec); !terminal) add(terminal.error());
  add(read_troubles(arguments, spec));
  if (!arguments.retry_on.empty())
    if (const Status read = spec::read_retry_on(arguments.retry_on, spec.retry); !read)
      add(wrong("--retry-on: " + read.error().message));
  if (faults.empty())
    for (const Error& error : errors_of(spec))
      faults.add({}, make_error(error.code, "run: " + with_flags(error.message)));
  return spec;
}

Result<JobSpec> spec_of(const RunArguments& arguments) {
  spec::Faults faults;
  JobSpec spec = spec_of(arguments, faults);
  TRY(faults.status());
  return spec;
}

Result<std::optional<ArraySpec>> array_of(const RunArguments& arguments) {
  if (arguments.array.empty()) return std::optional<ArraySpec>();
  if (arguments.rebuild)
    return wrong(
        "--array cannot be combined with --rebuild; use `lockstep environment prepare --rebuild` "
        "before");
  auto array = array_from(arguments.array);
  if (!array) return wrong("--array: " + array.error().message);
  return std::optional(*std::move(array));
}

Result<std::optional<spec::EnvironmentChoice>> environment_of(const RunArguments& arguments,
                                                              spec::Notes& notes) {
  TRY(check_choice(arguments));
  if (!arguments.environment.empty()) {
    TRY(check_text("--environment", arguments.environment));
    TRY_ASSIGN(auto choice, environment_named(arguments.environment, "run: --environment", notes));
    return std::optional(std::move(choice));
  }
  spec::ReadEnvironment read;
  EnvironmentSpec& spec = read.environment.spec;
  if (!arguments.interpreter.empty()) {
    TRY(check_text("--interpreter", arguments.interpreter));
    if (const auto fault = spec::fault_of_interpreter(arguments.interpreter))
      return wrong("--interpreter: " + *fault);
    spec.definition = HostEnvironment{arguments.interpreter};
  } else if (!arguments.requirements.empty() || !arguments.pip.empty()) {
    TRY_ASSIGN(spec.definition, packages_of(arguments, notes));
  } else if (!arguments.conda_file.empty()) {
    TRY(check_text("--conda-file", arguments.conda_file));
    TRY_ASSIGN(read, conda_of(arguments.conda_file, notes));
  } else if (arguments.image.empty()) {
    return std::nullopt;
  }
  if (!arguments.image.empty()) put_on_image(arguments.image, spec.definition);
  if (const Status valid = validate(spec); !valid) return valid.error().within("run");
  return std::optional(spec::EnvironmentChoice(std::move(read)));
}

}  // namespace lockstep::cli
