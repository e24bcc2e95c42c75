#include "launcher/files/job/reader.h"

#include <fmt/format.h>

#include <vector>

#include "common/domain/people/access.h"
#include "common/domain/targets/compute.h"
#include "launcher/files/data/component_rules.h"
#include "launcher/files/job/distribution_reader.h"
#include "launcher/files/job/docker_args_reader.h"
#include "launcher/files/job/queue_reader.h"
#include "launcher/files/job/reader_impl.h"
#include "launcher/files/job/retry_reader.h"
#include "launcher/files/yaml/expressions.h"
#include "launcher/files/yaml/shapes.h"
#include "launcher/metrics/sources/line_metrics.h"

namespace lockstep::spec {

void JobReader::fill_command(JobSpec& spec) const {
  // Names are not reported as unknown if inputs or outputs have errors.
  const bool names_are_known = !faults_.is_faulty("inputs") && !faults_.is_faulty("outputs");
  const ExpressionNames names{spec, step_ ? step_->unset : std::set<std::string>()};
  const YamlNode* command = at("command");
  if (command == nullptr && !faults_.is_faulty("command")) {
    const YamlEntry* entry = root_.find("command");
    fault("command", entry ? entry->place : root_.place,
          entry ? "'command' is empty; say what to run"
                : "the required key 'command' is missing; say what to run");
  }
  if (command != nullptr) {
    auto text = substitute(source_, *command, names);
    if (text) {
      spec.command = ShellCommand{*std::move(text)};
    } else if (names_are_known) {
      fault("command", command->place, text.error());
    } else {
      faults_.mark_faulty("command");
    }
  }
  const YamlNode* variables = at("environment_variables");
  if (variables == nullptr) return;
  for (const auto& entry : variables->entries) {
    const std::string path = join("environment_variables", entry.key);
    auto value = substitute(source_, entry.value, names, Secrets::allowed);
    if (entry.key.empty() || entry.key.find('=') != std::string::npos)
      fault(path, entry.place, fmt::format("'{}' is not a variable's name", entry.key));
    if (!value && names_are_known)
      fault(path, entry.place, value.error());
    else if (const Status plain = check_has_no_secret(source_, entry); !plain)
      fault(path, entry.value.place, plain.error());
    else if (value)
      spec.environment_variables[entry.key] = *std::move(value);
  }
}

void JobReader::fill_compute(ReadJob& job) const {
  const YamlNode* compute = at("compute");
  if (compute == nullptr) return;
  const std::string target(without_azureml(compute->text));
  if (target.empty())
    return fault("compute", compute->place, "'compute' is empty; name a target, or leave it out");
  if (target == "serverless") return;  // like on Azure, this names no target
  if (const Status named = check_compute_name(target); !named)
    return fault("compute", compute->place, "'compute': " + named.error().message);
  job.spec.compute = target;
  job.compute_place = compute->place;
}

void JobReader::fill_distribution(JobSpec& spec) const {
  const YamlNode* section = at("distribution");
  if (section == nullptr) return;
  spec.distribution = read_distribution(source_, *section, spec.resources.instance_count, faults_);
}

void JobReader::fill_resources(JobSpec& spec) const {
  ResourceRequest& resources = spec.resources;
  resources.instance_count = number("resources.instance_count").value_or(1);
  resources.cpus = number("lockstep.resources.cpus");
  resources.gpus = number("lockstep.resources.gpus");
  if (const YamlNode* memory = at(kMemoryKey)) resources.memory = parse_bytes(memory->text);
  if (const YamlNode* shm_size = at("resources.shm_size"))
    resources.shm_size = parse_bytes(shm_size->text);
  if (const YamlNode* args = at("resources.docker_args"))
    if (auto words = good("resources.docker_args", read_docker_args(source_, *args)))
      resources.docker_args = *std::move(words);
  fill_limits(spec.limits);
  if (const YamlNode* binding = at("lockstep.binding"))
    spec.binding = read_binding(source_, *binding, faults_);
  if (at("lockstep.gpus_per_rank") != nullptr)
    resources.isolate_gpus =
        good("lockstep.gpus_per_rank", word("lockstep.gpus_per_rank")) == "isolated";
  if (const YamlNode* timeout = at("limits.timeout")) spec.timeout = parse_duration(timeout->text);
  if (const YamlNode* grace = at("lockstep.grace_period"))
    spec.stop.grace = parse_duration(grace->text);
  if (const YamlNode* signal = at("lockstep.signal")) fill_signal(*signal, spec.stop);
}

void JobReader::fill_signal(const YamlNode& section, StopPolicy& stop) const {
  const YamlNode* name = at("lockstep.signal.name");
  const auto number = early_signal_number(name == nullptr ? "" : name->text);
  if (!number)
    return fault(
        "lockstep.signal", name == nullptr ? section.place : name->place,
        name == nullptr
            ? std::string("'lockstep.signal' has no 'name'; write {name: USR1, before: 60}")
            : fmt::format("'lockstep.signal.name': '{}' is not a signal that can be sent; "
                          "it must be one of {}",
                          name->text, early_signal_names()));
  stop.signal = EarlySignal{*number, kSignalBefore};
  if (const YamlNode* before = at("lockstep.signal.before"))
    stop.signal->before = parse_duration(before->text);
}

// `lockstep.limits: required` is short for the section with that `enforcement`.
void JobReader::fill_limits(LimitRequest& limits) const {
  const YamlNode* section = at("lockstep.limits");
  if (section == nullptr) return;
  const bool is_short = section->kind == YamlNode::Kind::scalar;
  const char* const path = is_short ? "lockstep.limits" : "lockstep.limits.enforcement";
  if (at(path) != nullptr) limits.required = good(path, word(path)) == "required";
  if (is_short) return;
  limits.pids = number("lockstep.limits.pids");
  if (const YamlNode* log = at("lockstep.limits.log")) limits.log = parse_bytes(log->text);
  if (const YamlNode* disk = at("lockstep.limits.disk")) limits.disk = parse_bytes(disk->text);
}

// Input to one attempt is not available to the next, so there are no retries.
void JobReader::fill_terminal(JobSpec& spec) const {
  if (at("lockstep.terminal") == nullptr) return;
  const auto chosen = good("lockstep.terminal", word("lockstep.terminal"));
  for (const TerminalKind kind : {TerminalKind::pty, TerminalKind::input})
    if (chosen == to_string(kind)) spec.terminal = kind;
  if (spec.terminal == TerminalKind::none) return;
  if (const YamlNode* array = at("lockstep.array"))
    fault("lockstep.terminal", array->place,
          "'lockstep.terminal': the tasks of an array have none, since nobody can write to all of "
          "them; leave out 'lockstep.array'");
  if (const YamlNode* most = at("lockstep.retry.max"))
    if (number("lockstep.retry.max").value_or(0) > 0)
      fault("lockstep.retry.max", most->place,
            "'lockstep.retry.max': a job with 'lockstep.terminal' is not tried again, since what "
            "was written to it is gone; leave it out, or write 0");
}

// What is watched while ranks run, and done after one has crashed.
void JobReader::fill_troubles(JobSpec& spec) const {
  if (const YamlNode* after = at("lockstep.hang_after")) {
    if (const auto time = hang_after_from(after->text))
      spec.hang.after = *time;
    else
      fault("lockstep.hang_after", after->place, "'lockstep.hang_after': " + time.error().message);
  }
  if (at("lockstep.on_hang") != nullptr)
    if (const auto chosen = good("lockstep.on_hang", word("lockstep.on_hang")))
      spec.hang.on = on_hang_from(*chosen).value_or(spec.hang.on);
  if (at("lockstep.core") != nullptr)
    if (const auto chosen = good("lockstep.core", word("lockstep.core")))
      spec.core = core_file_from(*chosen).value_or(spec.core);
}

void JobReader::fill_metrics(JobSpec& spec) const {
  const YamlNode* const lines = at("lockstep.metrics");
  if (lines == nullptr) return;
  spec.metric_lines = text_map("lockstep.metrics");
  for (const YamlEntry& line : lines->entries)
    if (const auto one = metrics::LinePatterns::compile({{line.key, line.value.text}}); !one)
      fault("lockstep.metrics", line.value.place, "'lockstep.metrics': " + one.error().message);
}

void JobReader::fill_retry(JobSpec& spec) const {
  const bool has_terminal = spec.terminal != TerminalKind::none;
  const int most = has_terminal ? 0 : RetryPolicy{}.max;
  spec.retry.max = number("lockstep.retry.max").value_or(most);
  if (const YamlNode* on = at("lockstep.retry.on"))
    if (const Status read = read_retry_on(source_, *on, spec.retry); !read)
      fault("lockstep.retry.on", on->place, read.error());
  if (const YamlNode* backoff = at("lockstep.retry.backoff"))
    spec.retry.backoff = parse_duration(backoff->text);
  if (at("lockstep.retry.on_lost") != nullptr &&
      good("lockstep.retry.on_lost", word("lockstep.retry.on_lost")) == "after_fence")
    spec.retry.on_lost = OnLost::after_fence;
  if (const YamlNode* every = at("lockstep.checkpoint.every"))
    spec.checkpoint.every = parse_duration(every->text);
}

void JobReader::fill_queue(ReadJob& job) const {
  QueueSettings& queue = job.spec.queue;
  if (at("queue_settings.priority") != nullptr)
    if (const auto priority = good("queue_settings.priority", word("queue_settings.priority")))
      queue.priority = priority_from(*priority).value_or(queue.priority);
  if (const YamlNode* tier = at("queue_settings.job_tier")) {
    const auto chosen = good("queue_settings.job_tier", word("queue_settings.job_tier"));
    for (const JobTier known : kJobTiers)
      if (chosen == to_string(known)) queue.tier = known;
    if (const std::string note = note_of_tier(queue.tier); !note.empty())
      job.notes.push_back(fmt::format("{}: {}", source_.where(tier->place), note));
  }
  if (const YamlNode* after = at("lockstep.after"))
    queue.after =
        good("lockstep.after", read_after(source_, *after)).value_or(std::vector<After>());
  if (const YamlNode* array = at("lockstep.array")) {
    auto read = array_from(array->text);
    if (!read)
      fault("lockstep.array", array->place, "'lockstep.array': " + read.error().message);
    else
      job.array = *std::move(read);
  }
  if (const YamlNode* time = at("lockstep.not_before"))
    if (const Status read = read_not_before(time->text, &queue); !read)
      fault("lockstep.not_before", time->place, "'lockstep.not_before': " + read.error().message);
}

void JobReader::fill_environment(ReadJob& job) const {
  const YamlNode* node = at("environment");
  if (node == nullptr) return;
  ReadEnvironments alone;
  ReadEnvironments& environments = environments_ == nullptr ? alone : *environments_;
  auto choice =
      good("environment", environments.read(source_.of(node->place), *node, read_text_, job.notes));
  if (!choice) return;
  if (auto* reference = std::get_if<EnvironmentReference>(&*choice)) {
    job.environment = std::move(*reference);
  } else {
    auto& content = std::get<ReadEnvironment>(*choice);
    job.spec.environment = std::move(content.environment.spec);
    job.build = std::move(content.build);
  }
}

}  // namespace lockstep::spec
