#include "launcher/files/job/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "common/base/nearest.h"
#include "common/domain/environment/variables.h"
#include "common/domain/people/access.h"
#include "common/domain/people/secrets.h"
#include "common/grammar/job_name.h"
#include "launcher/files/data/output_reader.h"
#include "launcher/files/job/docker_args_reader.h"
#include "launcher/files/job/keep_reader.h"
#include "launcher/files/job/placement_reader.h"
#include "launcher/files/job/reader_impl.h"
#include "launcher/files/job/set_inputs.h"
#include "launcher/files/yaml/keys.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

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

// Only the launcher knows the definition of an environment that is only named.
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

// For a missing path, the place of its parent.
Place JobReader::place_of(std::string_view path) const {
  while (true) {
    if (const YamlNode* node = at(path)) return node->place;
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos) return root_.place;
    path = path.substr(0, dot);
  }
}

// Errors of the domain's checks name the field before a colon; the field's place is looked up.
// Fields that have errors already are skipped.
void JobReader::validate_whole(const JobSpec& spec) const {
  for (const Error& error : errors_of(spec)) {
    const std::string_view path =
        std::string_view(error.message).substr(0, error.message.find(':'));
    if (faults_.is_faulty(path)) continue;
    const Place place = place_of(path);
    faults_.add(place, source_.error(place, error.message, error.code));
  }
}

// Notes the places of keys that the launcher may refuse.
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
  fill_metrics(job.spec);
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
