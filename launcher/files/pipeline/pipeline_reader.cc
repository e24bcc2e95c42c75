#include "launcher/files/pipeline/pipeline_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/domain/targets/compute.h"
#include "launcher/files/pipeline/input_values.h"
#include "launcher/files/pipeline/step_order.h"
#include "launcher/files/pipeline/step_outputs.h"
#include "launcher/files/pipeline/step_reader.h"
#include "launcher/files/yaml/known_word.h"

namespace lockstep::spec {

namespace {

// The limit on the texts of all steps: a small file can use a large component ten thousand times.
constexpr std::size_t kMaxStepBytes = 256u << 20;

std::size_t bytes_of(const JobSpec& spec) {
  std::size_t bytes = 1024;
  if (const auto* shell = std::get_if<ShellCommand>(&spec.command)) bytes += shell->text.size();
  for (const auto* map : {&spec.environment_variables, &spec.inputs})
    for (const auto& [name, value] : *map) bytes += name.size() + value.size();
  for (const DataInput& input : spec.data) bytes += lockstep::bytes_of(input);
  return bytes;
}

YamlNode mapping_at(const Place& place) {
  YamlNode node;
  node.kind = YamlNode::Kind::mapping;
  node.place = place;
  return node;
}

class PipelineReader {
 public:
  PipelineReader(const Source& source, YamlNode root, ComponentReader& components,
                 const ReadText& read_text, Faults& faults)
      : source_(source),
        root_(std::move(root)),
        components_(components),
        read_text_(read_text),
        faults_(faults) {}

  ReadPipeline read() {
    ReadPipeline read;
    tree_ = read_pipeline_tree(source_, root_, components_, faults_, notes_);
    PipelineOutputs outputs(source_, tree_, faults_);
    outputs.bind();
    find_values(source_, tree_, outputs, faults_);
    read_head(read.job);
    std::vector<ReadStep> steps = read_steps(read.job.spec);
    const std::vector<std::size_t> order = sort_steps(source_, needs_of(steps), faults_);
    PipelineSpec& pipeline = read.pipeline;
    if (!faults_.empty()) {
      for (std::size_t at = 0; at < steps.size(); ++at)
        add_step(*tree_.steps[at], steps[at], pipeline, read.steps);
      return read;
    }
    pipeline.outputs = outputs.of_root();
    pipeline.continue_on_step_failure = tree_.root->settings.continue_on_step_failure;
    for (const std::size_t at : in_phases(order))
      add_step(*tree_.steps[at], steps[at], pipeline, read.steps);
    read.job.notes = without_repeats();
    return read;
  }

 private:
  void read_head(ReadJob& job) {
    YamlNode head = mapping_at(root_.place);
    for (const YamlEntry& entry : root_.entries)
      if (entry.key != "jobs" && entry.key != "inputs" && entry.key != "outputs")
        head.entries.push_back(entry);
    job = read_job_head(source_, std::move(head), faults_);
    read_compute(job);
    ReadInputs inputs;
    for (const PipelineInput& input : tree_.root->inputs) {
      if (const auto* literal = std::get_if<Literal>(&input.value))
        inputs.literals[input.name] = literal->text;
      if (const auto* files = std::get_if<InputFiles>(&input.value))
        faults_.add(files->key, read_data(source_, *files->node, files->key,
                                          {input.name, files->type, files->mode}, inputs));
    }
    job.spec.inputs = std::move(inputs.literals);
    job.spec.data = std::move(inputs.data);
    job.local_data = std::move(inputs.local);
  }

  // The default target of its steps. An error in it is reported for each step that uses it.
  void read_compute(ReadJob& job) const {
    const YamlNode* compute = tree_.root->settings.compute;
    if (compute == nullptr) return;
    const std::string_view target = without_azureml(compute->text);
    if (target.empty() || target == "serverless") return;
    job.spec.compute = target;
    job.compute_place = compute->place;
  }

  std::vector<ReadStep> read_steps(const JobSpec& head) {
    std::vector<ReadStep> steps;
    std::size_t bytes = 0;
    for (const PipelineNode* node : tree_.steps) {
      ReadStep& step = steps.emplace_back();
      if (!node->is_good) {
        bind_only(*node, step);
        continue;
      }
      Faults faults;
      step = read_pipeline_step(source_, *node, read_text_, environments_, faults);
      faults_.add_all(faults);
      step.job.spec.experiment_name = head.experiment_name;
      step.job.spec.project = head.project;
      bytes += bytes_of(step.job.spec);
      if (bytes > kMaxStepBytes) {
        faults_.add(node->place,
                    source_.error(node->place, "the steps of the pipeline take more than 256 MiB",
                                  ErrorCode::resource_exhausted));
        break;
      }
      notes_.insert(notes_.end(), step.job.notes.begin(), step.job.notes.end());
    }
    steps.resize(tree_.steps.size());
    return steps;
  }

  // Binds the outputs of steps that are not read, so that cycles are reported for them, too.
  static void bind_only(const PipelineNode& node, ReadStep& step) {
    for (const PipelineInput& input : node.inputs)
      if (const auto* output = std::get_if<OutputOfStep>(&input.value)) {
        step.bindings.push_back({input.name, output->step->name, output->output});
        step.places.push_back(input.place);
      }
  }

  std::vector<StepNeeds> needs_of(const std::vector<ReadStep>& steps) const {
    std::map<std::string_view, std::size_t> indexes;
    for (std::size_t i = 0; i < tree_.steps.size(); ++i) indexes[tree_.steps[i]->name] = i;
    std::vector<StepNeeds> all;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      StepNeeds& needs = all.emplace_back();
      needs.node = tree_.steps[i];
      for (std::size_t k = 0; k < steps[i].bindings.size(); ++k)
        needs.needs.push_back({indexes.at(steps[i].bindings[k].step), steps[i].places[k]});
    }
    return all;
  }

  // Sorts the steps: on_init's first, on_finalize's last.
  std::vector<std::size_t> in_phases(std::vector<std::size_t> order) const {
    const auto phase = [&](std::size_t at) {
      const StepRole role = tree_.steps[at]->role;
      return role == StepRole::on_init ? 0 : role == StepRole::main ? 1 : 2;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return phase(a) < phase(b); });
    return order;
  }

  void add_step(const PipelineNode& node, ReadStep& read, PipelineSpec& pipeline,
                std::vector<ReadJob>& files) const {
    read.job.where[""] = source_.where(node.place);
    PipelineStep& step = pipeline.steps.emplace_back();
    step.name = node.name;
    step.spec = std::move(read.job.spec);
    step.bindings = std::move(read.bindings);
    step.role = node.role;
    step.reuse = read.reuse;
    files.push_back(std::move(read.job));
  }

  Notes without_repeats() const {
    Notes notes;
    std::set<std::string_view> seen;
    for (const std::string& note : notes_)
      if (seen.insert(note).second) notes.push_back(note);
    return notes;
  }

  const Source& source_;
  YamlNode root_;
  ComponentReader& components_;
  const ReadText& read_text_;
  Faults& faults_;
  ReadEnvironments environments_;
  PipelineTree tree_;
  Notes notes_;
};

// Moves lockstep.project, which applies to the whole pipeline, not to single steps.
void move_project(YamlEntry& lockstep, YamlNode& pipeline) {
  auto& keys = lockstep.value.entries;
  const auto project = std::find_if(keys.begin(), keys.end(),
                                    [](const YamlEntry& key) { return key.key == "project"; });
  if (project == keys.end()) return;
  YamlNode section = mapping_at(lockstep.value.place);
  section.entries.push_back(std::move(*project));
  keys.erase(project);
  pipeline.entries.push_back({lockstep.key, lockstep.place, std::move(section)});
}

}  // namespace

ReadPipeline read_pipeline(const Source& source, YamlNode root, ComponentReader& components,
                           const ReadText& read_text, Faults& faults) {
  return PipelineReader(source, std::move(root), components, read_text, faults).read();
}

ReadJob read_component_job(const Source& source, YamlNode root, ComponentReader& components,
                           const ReadText& read_text, Faults& faults) {
  YamlNode pipeline = mapping_at(root.place), step = mapping_at(root.place);
  for (YamlEntry& entry : root.entries) {
    const bool is_of_head = entry.key == "name" || entry.key == "experiment_name";
    if (entry.key == "lockstep") move_project(entry, pipeline);
    (is_of_head ? pipeline : step).entries.push_back(std::move(entry));
  }
  YamlNode jobs = mapping_at(root.place);
  jobs.entries.push_back({"job", root.place, std::move(step)});
  pipeline.entries.push_back({"jobs", root.place, std::move(jobs)});
  ReadPipeline read = read_pipeline(source, std::move(pipeline), components, read_text, faults);
  if (read.steps.empty()) return {};
  ReadJob job = std::move(read.steps.front());
  job.notes = std::move(read.job.notes);
  job.spec = std::move(read.pipeline.steps.front().spec);
  job.spec.name = read.job.spec.name;
  job.where.erase("");
  job.where.merge(read.job.where);  // places of its name and project
  return job;
}

}  // namespace lockstep::spec
