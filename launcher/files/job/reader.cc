#include "launcher/files/job/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "common/base/nearest.h"
#include "common/domain/environment/variables.h"
#include "common/domain/people/access.h"
#include "common/domain/people/secrets.h"
#include "common/domain/targets/compute.h"
#include "common/grammar/job_name.h"
#include "launcher/files/data/component_rules.h"
#include "launcher/files/data/output_reader.h"
#include "launcher/files/job/distribution_reader.h"
#include "launcher/files/job/docker_args_reader.h"
#include "launcher/files/job/keep_reader.h"
#include "launcher/files/job/placement_reader.h"
#include "launcher/files/job/queue_reader.h"
#include "launcher/files/job/retry_reader.h"
#include "launcher/files/job/set_inputs.h"
#include "launcher/files/yaml/expressions.h"
#include "launcher/files/yaml/keys.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

namespace {

class JobReader {
 public:
  JobReader(const Source& source, YamlNode root, const ReadText& read_text, Faults& faults)
      : source_(source), root_(std::move(root)), read_text_(read_text), faults_(faults) {}
  void be_step(StepPorts ports, ReadEnvironments& environments) {
    step_ = std::move(ports);
    environments_ = &environments;
  }

  ReadJob read();
  ReadJob read_head();

 private:
  const YamlNode* at(std::string_view path) const;  // nullptr: absent, or null
  Error error(const Place& place, std::string_view message) const {
    return source_.error(place, message);
  }

  std::string text(std::string_view path) const;
  std::optional<int> number(std::string_view path) const;
  Result<std::string> word(std::string_view path) const { return word_of(*at(path), path, path); }
  // `words`: the path under which known_words() has them; `shown`: the path for people.
  Result<std::string> word_of(const YamlNode& node, std::string_view words,
                              std::string_view path) const {
    return known_word(source_, node, words, path);
  }
  std::map<std::string, std::string> text_map(std::string_view path) const;

  void fill_texts(ReadJob& job) const;
  void fill_ports(ReadJob& job);
  void fill_outputs(ReadJob& job) const;
  void fill_kept(JobSpec& spec) const;
  void fill_command(JobSpec& spec) const;
  void fill_compute(ReadJob& job) const;
  void fill_distribution(JobSpec& spec) const;
  void fill_limits(LimitRequest& limits) const;
  void fill_signal(const YamlNode& section, StopPolicy& stop) const;
  void fill_resources(JobSpec& spec) const;
  void fill_includes(ReadJob& job) const;
  static void take_inputs(ReadInputs inputs, ReadJob& job);
  void fill_inputs(ReadJob& job) const;
  void fill_terminal(JobSpec& spec) const;
  void fill_troubles(JobSpec& spec) const;
  void fill_retry(JobSpec& spec) const;
  void fill_queue(ReadJob& job) const;
  void fill_environment(ReadJob& job) const;
  void warn_of_ignored(ReadJob& job) const;
  void warn_of_unreplaced(ReadJob& job) const;  // by a shell, which is not there
  void validate_whole(const JobSpec& spec) const;
  void note_places(ReadJob& job) const;
  Place place_of(std::string_view path) const;
  // What stands at this path is wrong.
  void fault(std::string_view path, const Place& place, const Error& error) const {
    faults_.add(place, error);
    faults_.spoil(path);
  }
  void fault(std::string_view path, const Place& place, std::string_view message) const {
    fault(path, place, error(place, message));
  }
  // The value, or nullopt behind a fault of this path.
  template <typename T>
  std::optional<T> good(std::string_view path, Result<T> read) const {
    if (read) return *std::move(read);
    fault(path, place_of(path), std::move(read).error());
    return std::nullopt;
  }

  const Source& source_;
  YamlNode root_;
  const ReadText& read_text_;
  Faults& faults_;
  std::optional<StepPorts> step_;
  ReadEnvironments* environments_ = nullptr;  // of a step
};

const YamlNode* JobReader::at(std::string_view path) const {
  const YamlNode* node = &root_;
  while (true) {
    const auto dot = path.find('.');
    const YamlEntry* entry = node->find(path.substr(0, dot));
    if (entry == nullptr || entry->value.kind == YamlNode::Kind::null) return nullptr;
    node = &entry->value;
    if (dot == std::string_view::npos) return node;
    path.remove_prefix(dot + 1);
  }
}

std::string JobReader::text(std::string_view path) const {
  const YamlNode* node = at(path);
  return node == nullptr ? "" : node->text;
}

std::optional<int> JobReader::number(std::string_view path) const {
  const YamlNode* node = at(path);
  return node == nullptr ? std::nullopt : to_whole_number(node->text);
}

std::map<std::string, std::string> JobReader::text_map(std::string_view path) const {
  std::map<std::string, std::string> map;
  if (const YamlNode* node = at(path))
    for (const auto& entry : node->entries) map[entry.key] = entry.value.text;
  return map;
}

void JobReader::fill_texts(ReadJob& job) const {
  JobSpec& spec = job.spec;
  spec.name = text("name");
  if (const YamlNode* name = at("name"); name != nullptr && spec.name.empty())
    fault("name", name->place, "'name' is empty; leave it out to get a generated one");
  spec.display_name = text("display_name");
  spec.experiment_name = text("experiment_name");
  if (spec.experiment_name.empty()) spec.experiment_name = "Default";
  spec.description = text("description");
  spec.project = text("lockstep.project");
  if (const YamlNode* project = at("lockstep.project"))
    if (const Status named = validate_project_name(spec.project); !named)
      fault("lockstep.project", project->place, "lockstep.project: " + named.error().message);
  spec.tags = text_map("tags");
  if (const YamlNode* code = at("code")) {
    if (code->text.empty()) return fault("code", code->place, "'code' is empty; name a directory");
    job.code = code->text;
    job.code_place = code->place;
  }
}

void JobReader::fill_includes(ReadJob& job) const {
  if (at("lockstep.links") != nullptr)
    job.keep_links = good("lockstep.links", word("lockstep.links")) == "keep";
  const YamlNode* list = at("additional_includes");
  if (list == nullptr) return;
  if (list->kind != YamlNode::Kind::sequence)
    return fault("additional_includes", list->place,
                 fmt::format("'additional_includes' must be a list of files and folders, not {}",
                             describe(list->kind)));
  for (const YamlNode& item : list->items) {
    if (item.kind != YamlNode::Kind::scalar || item.text.empty())
      fault("additional_includes", item.place,
            fmt::format("'additional_includes': an entry must be the name of a file or folder, not "
                        "{}",
                        item.text.empty() ? "nothing" : describe(item.kind)));
    else
      job.includes.push_back({item.text, item.place});
  }
}

void JobReader::take_inputs(ReadInputs inputs, ReadJob& job) {
  job.spec.inputs = std::move(inputs.literals);
  job.spec.data = std::move(inputs.data);
  job.local_data = std::move(inputs.local);
  for (auto& [name, where] : inputs.where) job.where[join("inputs", name)] = std::move(where);
}

void JobReader::fill_inputs(ReadJob& job) const {
  const YamlNode* node = at("inputs");
  if (node == nullptr) return;
  check_set_inputs(source_, root_, "the job", nullptr, "", faults_);
  take_inputs(read_inputs(source_, *node, faults_), job);
}

void JobReader::fill_kept(JobSpec& spec) const {
  if (const YamlNode* from = at("lockstep.from_checkpoint_of")) {
    spec.from_checkpoint_of = JobId(from->text);
    if (const Status named = validate_job_name(from->text); !named)
      fault("lockstep.from_checkpoint_of", from->place,
            "lockstep.from_checkpoint_of: " + named.error().message);
  }
  if (const YamlNode* keep = at("lockstep.keep"))
    spec.keep =
        good("lockstep.keep", read_keep(source_, *keep)).value_or(std::vector<std::string>());
}

void JobReader::fill_outputs(ReadJob& job) const {
  const YamlNode* outputs = at("outputs");
  if (outputs == nullptr) return;
  for (const auto& entry : outputs->entries) {
    const ReadOutput output = read_output(source_, entry.key, entry.value, faults_);
    if (!output.path.empty()) job.where[join("outputs", entry.key)] = output.where;
    job.spec.outputs.push_back(output_spec(output));
  }
}

void JobReader::fill_ports(ReadJob& job) {
  if (!step_) {
    fill_inputs(job);
    return fill_outputs(job);
  }
  take_inputs(std::move(step_->inputs), job);
  job.spec.outputs = std::move(step_->outputs);
  for (auto& [name, where] : step_->output_where)
    job.where[join("outputs", name)] = std::move(where);
}

void JobReader::fill_command(JobSpec& spec) const {
  // An input or output that is wrong is not called unknown as well.
  const bool names_are_known = !faults_.is_spoilt("inputs") && !faults_.is_spoilt("outputs");
  const ExpressionNames names{spec, step_ ? step_->unset : std::set<std::string>()};
  const YamlNode* command = at("command");
  if (command == nullptr && !faults_.is_spoilt("command")) {
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
      faults_.spoil("command");
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
  if (target == "serverless") return;  // as on Azure: no target is named
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

// What was written to one attempt is not there for the next one.
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

// What is looked for while ranks run, and after one has crashed.
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

// What an environment is that has a name alone, the launcher knows.
void JobReader::warn_of_unreplaced(ReadJob& job) const {
  const YamlNode* variables = at("environment_variables");
  if (variables == nullptr) return;
  for (const YamlEntry& entry : variables->entries) {
    const std::string note =
        unreplaced_note(join("environment_variables", entry.key), entry.key, entry.value.text);
    if (!note.empty())
      job.notes.push_back(fmt::format("{}: {}", source_.where(entry.value.place), note));
  }
}

void JobReader::warn_of_ignored(ReadJob& job) const {
  if (job.environment) return;
  for (const std::string_view key : keys_without_container(job.spec))
    job.notes.push_back(fmt::format("{}: {}", source_.where(at(key)->place), ignored(key)));
}

// Of a path that is absent, the place of what it would stand in.
Place JobReader::place_of(std::string_view path) const {
  while (true) {
    if (const YamlNode* node = at(path)) return node->place;
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos) return root_.place;
    path = path.substr(0, dot);
  }
}

// The domain's own checks name the field before a colon: its place is looked up again. Nothing is
// said of a field that is wrong already.
void JobReader::validate_whole(const JobSpec& spec) const {
  for (const Error& error : errors_of(spec)) {
    const std::string_view path =
        std::string_view(error.message).substr(0, error.message.find(':'));
    if (faults_.is_spoilt(path)) continue;
    const Place place = place_of(path);
    faults_.add(place, source_.error(place, error.message, error.code));
  }
}

// Of what the launcher may refuse.
void JobReader::note_places(ReadJob& job) const {
  for (const std::string_view key : kKeysOfTheLauncher)
    if (const YamlNode* node = at(key)) job.where[std::string(key)] = source_.where(node->place);
  const YamlNode* variables = at("environment_variables");
  if (variables == nullptr) return;
  for (const YamlEntry& entry : variables->entries) {
    const auto found = job.spec.environment_variables.find(entry.key);
    if (found != job.spec.environment_variables.end() && !secrets_of({*found}).empty())
      job.where[join("environment_variables", entry.key)] = source_.where(entry.value.place);
  }
}

ReadJob JobReader::read_head() {
  ReadJob job;
  fill_texts(job);
  if (const YamlNode* name = at("name"))
    if (const Status named = validate_job_name(job.spec.name); !named && !job.spec.name.empty())
      fault("name", name->place, named.error().message);
  note_places(job);
  return job;
}

ReadJob JobReader::read() {
  ReadJob job;
  check_shapes(source_, root_, faults_, step_ ? step_keys() : job_keys());
  fill_texts(job);
  fill_includes(job);
  fill_ports(job);
  fill_kept(job.spec);
  fill_compute(job);
  fill_resources(job.spec);
  fill_distribution(job.spec);
  read_placement(source_, root_, faults_, job.spec.resources, job.notes);
  fill_terminal(job.spec);
  fill_troubles(job.spec);
  fill_retry(job.spec);
  fill_queue(job);
  fill_environment(job);
  fill_command(job.spec);
  validate_whole(job.spec);
  note_places(job);
  if (faults_.empty()) warn_of_ignored(job);
  warn_of_unreplaced(job);
  add_notes_on_unused(source_, root_, step_ ? step_keys() : job_keys(), job.notes);
  return job;
}

}  // namespace

ReadJob read_job(const Source& source, YamlNode root, const ReadText& read_text, Faults& faults) {
  return JobReader(source, std::move(root), read_text, faults).read();
}

ReadJob read_job_head(const Source& source, YamlNode root, Faults& faults) {
  const ReadText no_files;
  return JobReader(source, std::move(root), no_files, faults).read_head();
}

Result<EnvironmentChoice> ReadEnvironments::read(const Source& source, const YamlNode& node,
                                                 const ReadText& read_text, Notes& notes) {
  if (node.place.override_text) return read_environment(source, node, read_text, notes);
  const std::pair key(&source, node.place.offset);
  auto known = known_.find(key);
  if (known == known_.end())
    known = known_.emplace(key, read_environment(source, node, read_text, notes)).first;
  return known->second;
}

ReadJob read_step(const Source& source, YamlNode root, StepPorts ports, const ReadText& read_text,
                  ReadEnvironments& environments, Faults& faults) {
  JobReader reader(source, std::move(root), read_text, faults);
  reader.be_step(std::move(ports), environments);
  return reader.read();
}

}  // namespace lockstep::spec
