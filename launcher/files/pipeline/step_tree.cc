#include "launcher/files/pipeline/step_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/nearest.h"
#include "common/base/quoted_name.h"
#include "launcher/files/data/input_reader.h"
#include "launcher/files/job/set_inputs.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

namespace {

using Kind = YamlNode::Kind;

const YamlNode* value_of_key(const YamlNode& node, std::string_view key) {
  const YamlEntry* entry = node.find(key);
  return entry == nullptr || entry->value.kind == Kind::null ? nullptr : &entry->value;
}

class TreeReader {
 public:
  TreeReader(const Source& source, ComponentReader& components, Faults& faults, Notes& notes)
      : source_(source), components_(components), faults_(faults), notes_(notes) {}

  PipelineTree read(YamlNode& root) {
    tree_.root = std::make_unique<PipelineNode>();
    tree_.root->own = &root;
    tree_.root->place = root.place;
    tree_.root->kind = JobKind::pipeline;
    read_node(*tree_.root);
    return std::move(tree_);
  }

 private:
  void fault(PipelineNode& node, const Place& place, const std::string& message,
             ErrorCode code = ErrorCode::invalid_argument) {
    faults_.add(place, source_.error(place, message, code));
    node.is_good = false;
  }

  void read_node(PipelineNode& node) {
    node.has_ports = read_component(node);
    if (!node.has_ports) return;
    const bool is_pipeline = node.kind == JobKind::pipeline;
    check_shapes(source_, *node.own, node.faults, is_pipeline ? pipeline_keys() : step_keys(),
                 is_pipeline ? Numbers::as_written : Numbers::may_be_bound);
    if (!node.faults.empty()) node.is_good = false;
    if (node.faults.is_faulty("inputs") || node.faults.is_faulty("outputs")) node.has_ports = false;
    faults_.add_all(node.faults);
    read_inputs_of(node);
    read_outputs_of(node);
    if (is_pipeline)
      read_inside(node);
    else
      tree_.steps.push_back(&node);
  }

  // Reads the kind; a component decides it.
  bool read_component(PipelineNode& node) {
    const auto kind = read_kind(source_, *node.own, FileKind::job);
    if (!kind) {
      faults_.add(node.place, kind.error());
      return node.is_good = false;
    }
    if (node.parent != nullptr) node.kind = kind->value_or(JobKind::command);
    const YamlNode* component = value_of_key(*node.own, "component");
    if (component == nullptr) return true;
    node.component = components_.read(*component);
    if (node.component == nullptr || !node.component->is_good) return node.is_good = false;
    const bool is_pipeline = node.component->kind == JobKind::pipeline;
    if (node.parent == nullptr ? !is_pipeline : *kind && **kind != node.component->kind) {
      const std::string_view word = is_pipeline ? "pipeline" : "command";
      fault(node, component->place,
            fmt::format("'component': {} is a {} component ({}), but 'type' is {}",
                        node.component->shown, word, source_.where(node.component->place),
                        is_pipeline ? "command" : "pipeline"));
      return false;
    }
    node.kind = node.component->kind;
    return check_not_inside_itself(node, *component);
  }

  bool check_not_inside_itself(PipelineNode& node, const YamlNode& named) {
    std::string chain = node.component->shown;
    for (const PipelineNode* at = node.parent; at != nullptr; at = at->parent) {
      if (at->component == nullptr) continue;
      chain = at->component->shown + " -> " + chain;
      if (at->component != node.component) continue;
      fault(node, named.place, fmt::format("a cycle: the component includes itself: {}", chain));
      return false;
    }
    return true;
  }

  // ---- inputs and outputs ----------------------------------------------------------------------
  void read_inputs_of(PipelineNode& node) {
    const YamlNode* given = value_of_key(*node.own, "inputs");
    if (node.component != nullptr)
      for (const Port& port : node.component->inputs)
        add_input(node, port.name, &port, given == nullptr ? nullptr : given->find(port.name));
    if (given == nullptr) return;
    if (node.component == nullptr) check_set(node);
    for (const YamlEntry& entry : given->entries)
      if (const Port* port = declared(node, entry))
        add_input(node, entry.key, port, nullptr);
      else if (node.component == nullptr)
        add_input(node, entry.key, nullptr, &entry);
      else if (node.component->input(entry.key) == nullptr)
        unknown_input(node, entry);
  }

  void check_set(PipelineNode& node) {
    const YamlNode* around = node.parent == nullptr ? nullptr : node.parent->own;
    check_set_inputs(source_, *node.own, node.shown(), around, node.key, node.faults);
    if (!node.faults.empty()) node.is_good = false;
    faults_.add_all(node.faults);
  }

  // Refuses a value for an input that the component does not have, which Azure ignores: it may be a
  // typing error. Adds an input that was declared for this value.
  void unknown_input(PipelineNode& node, const YamlEntry& entry) {
    std::vector<std::string_view> names;
    for (const Port& port : node.component->inputs) names.push_back(port.name);
    const std::string near = nearest(entry.key, names);
    std::string message = fmt::format("{} has no input '{}'", node.component->shown, entry.key);
    if (!near.empty()) message += fmt::format("; did you mean '{}'?", near);
    if (names.empty()) message += "; it declares no inputs";
    if (!near.empty() || entry.place.override_text) return fault(node, entry.place, message);
    notes_.push_back(
        fmt::format("{}: {}{}", source_.where(entry.place), message, "; this value is not used"));
  }

  // Declares an input of the pipeline with a literal's type or no value, such as {type: number,
  // default: 1}.
  const Port* declared(PipelineNode& node, const YamlEntry& entry) {
    if (node.kind != JobKind::pipeline || node.component != nullptr ||
        entry.value.kind != Kind::mapping)
      return nullptr;
    if (value_of_key(entry.value, "path") != nullptr) return nullptr;
    const YamlNode* type = value_of_key(entry.value, "type");
    const bool is_literal = type != nullptr && literal_type_from(lower_case(type->text));
    if (!is_literal && value_of_key(entry.value, "optional") == nullptr) return nullptr;
    auto port = read_port(source_, entry, node.faults);
    faults_.add_all(node.faults);
    if (!port) node.is_good = false;
    return port ? &tree_.ports.emplace_back(*std::move(port)) : nullptr;
  }

  void add_input(PipelineNode& node, const std::string& name, const Port* port,
                 const YamlEntry* given) {
    PipelineInput input;
    input.name = name;
    input.port = port;
    input.place = given == nullptr ? node.place : given->place;
    if (given != nullptr && given->value.kind != Kind::null) input.given = &given->value;
    const bool is_mapping = input.given != nullptr && input.given->kind == Kind::mapping;
    if (is_mapping && !read_traits(node, input)) {
      node.is_good = false;
      input.state = PipelineInput::State::done;
    }
    node.inputs.push_back(std::move(input));
  }

  bool read_traits(PipelineNode& node, PipelineInput& input) {
    const YamlNode* word = value_of_key(*input.given, "type");
    const bool is_literal = word != nullptr && literal_type_from(lower_case(word->text));
    if (!is_literal) {
      auto type = read_data_type(source_, *input.given, input.name);
      if (!type) faults_.add(input.place, type.error());
      if (!type) return false;
      input.type = *type;
    }
    auto mode = read_data_mode(source_, *input.given, input.name);
    if (!mode) faults_.add(input.place, mode.error());
    if (!mode) return false;
    input.mode = *mode;
    return !node.faults.is_faulty(join("inputs", input.name));
  }

  // The component's outputs, with the step's settings for them.
  void read_outputs_of(PipelineNode& node) {
    if (node.component != nullptr) node.outputs = node.component->outputs;
    const YamlNode* given = value_of_key(*node.own, "outputs");
    if (given == nullptr) return;
    for (const YamlEntry& entry : given->entries) {
      auto output = read_bound_output(source_, entry, faults_);
      if (!output) {
        node.is_good = node.has_ports = false;
        continue;
      }
      if (BoundOutput* known = node.output(entry.key))
        override_output(node, *known, *std::move(output));
      else if (node.component != nullptr && entry.key != kArtifacts)
        unknown_output(node, entry);
      else
        node.outputs.push_back(*std::move(output));
    }
  }

  void override_output(PipelineNode& node, BoundOutput& known, BoundOutput given) {
    const auto type = given.output.type;
    const auto declared = known.output.type;
    if (type && declared && !(takes(*type, *declared) && takes(*declared, *type)))
      fault(node, given.place,
            fmt::format("output '{}' is a {} here, but a {} in {} ({})", known.output.name,
                        lockstep::to_string(*type), lockstep::to_string(*declared),
                        node.component->shown, source_.where(known.place)));
    if (type) known.output.type = type;
    if (given.output.mode) known.output.mode = given.output.mode;
    if (!given.output.path.empty()) {
      known.output.path = given.output.path;
      known.output.where = given.output.where;
    }
    if (given.bound) known.bound = std::move(given.bound);
    if (given.from) known.from = std::move(given.from);
  }

  void unknown_output(PipelineNode& node, const YamlEntry& entry) {
    std::vector<std::string_view> names;
    for (const BoundOutput& output : node.component->outputs) names.push_back(output.output.name);
    const std::string near = nearest(entry.key, names);
    std::string message = fmt::format("{} has no output '{}'", node.component->shown, entry.key);
    if (!near.empty()) message += fmt::format("; did you mean '{}'?", near);
    if (names.empty()) message += "; it declares no outputs";
    fault(node, entry.place, message);
  }

  // ---- what is inside a pipeline ---------------------------------------------------------------
  void read_inside(PipelineNode& node) {
    tree_.pipelines.push_back(&node);
    const bool is_outermost = node.parent == nullptr;
    YamlNode& body = body_of(node);
    for (const std::string_view key : {"experiment_name", "lockstep"})
      if (const YamlEntry* entry = is_outermost ? nullptr : body.find(key))
        fault(node, entry->place, fmt::format("'{}' belongs to the outermost pipeline", key));
    add_notes_on_unused(source_, body, pipeline_keys(), notes_);
    node.settings = read_settings(source_, body, is_outermost, faults_, notes_);
    auto jobs = std::find_if(body.entries.begin(), body.entries.end(),
                             [](const YamlEntry& entry) { return entry.key == "jobs"; });
    if (jobs == body.entries.end() || jobs->value.kind == Kind::null || is_empty(jobs->value)) {
      const bool is_there = jobs != body.entries.end();
      return fault(node, is_there ? jobs->place : node.place,
                   fmt::format("{} has no steps; write them under 'jobs'", node.shown()));
    }
    if (jobs->value.kind != Kind::mapping)
      return fault(node, jobs->value.place,
                   fmt::format("'jobs' must be a mapping of names to steps, not {}",
                               describe(jobs->value.kind)));
    if (node.depth >= kMaxPipelineDepth)
      return fault(node, node.place,
                   fmt::format("pipelines are nested more than {} deep", kMaxPipelineDepth));
    for (YamlEntry& entry : jobs->value.entries) read_step(node, entry, jobs->value);
    std::sort(node.by_key.begin(), node.by_key.end());
    read_roles(node);
  }

  // The mapping with the pipeline's `jobs`: its own, or its component's with the keys of --set
  // applied.
  YamlNode& body_of(PipelineNode& node) {
    if (node.component == nullptr) return *node.own;
    const YamlEntry* jobs = node.own->find("jobs");
    const YamlEntry* settings = node.own->find("settings");
    for (const YamlEntry* entry : {jobs, settings})
      if (entry != nullptr && !entry->place.override_text && node.parent != nullptr)
        fault(node, entry->place,
              fmt::format("'{}' cannot be combined with 'component', which has "
                          "its own",
                          entry->key));
    if (jobs == nullptr && settings == nullptr) return node.component->tree;
    YamlNode& merged = tree_.overridden.emplace_back(node.component->tree);
    YamlNode over;
    over.kind = Kind::mapping;
    for (const YamlEntry* entry : {jobs, settings})
      if (entry != nullptr) over.entries.push_back(*entry);
    merge(merged, over);
    return merged;
  }

  // Whether a step appears only in a --set, and has nothing to run.
  static bool is_mistyped(const YamlEntry& step) {
    constexpr std::array<std::string_view, 4> kKeys = {"command", "component", "jobs", "type"};
    return step.place.override_text &&
           std::none_of(kKeys.begin(), kKeys.end(),
                        [&](std::string_view key) { return step.value.find(key) != nullptr; });
  }

  static std::string no_step(const YamlEntry& mistyped, const YamlNode& steps) {
    std::vector<std::string_view> names;
    for (const YamlEntry& step : steps.entries)
      if (!is_mistyped(step)) names.push_back(step.key);
    const std::string near = nearest(mistyped.key, names);
    return fmt::format("there is no step '{}'; {}", mistyped.key,
                       near.empty() ? "a --set that adds one sets its command too"
                                    : fmt::format("did you mean '{}'?", near));
  }

  // Reads a step. `steps`: all steps of the pipeline.
  void read_step(PipelineNode& pipeline, YamlEntry& entry, const YamlNode& steps) {
    if (count_ >= kMaxPipelineSteps) {
      if (count_++ == kMaxPipelineSteps)
        fault(pipeline, entry.place,
              fmt::format("the pipeline has more than {} steps", kMaxPipelineSteps),
              ErrorCode::resource_exhausted);
      return;
    }
    ++count_;
    PipelineNode& node = *pipeline.steps.emplace_back(std::make_unique<PipelineNode>());
    node.key = entry.key;
    node.name = join(pipeline.name, entry.key);
    node.place = entry.place;
    node.parent = &pipeline;
    node.depth = pipeline.depth + 1;
    node.own = &entry.value;
    pipeline.by_key.emplace_back(node.key, &node);
    node.has_ports = false;  // set when it has been read
    if (!valid_output_name(entry.key))
      return fault(
          node, entry.place,
          fmt::format("{} is not a step's name; use at most {} letters, digits and '_', and do not "
                      "begin with a digit",
                      quoted_name(entry.key), kMaxOutputNameBytes));
    if (node.name.size() > kMaxStepNameBytes)
      return fault(node, entry.place,
                   fmt::format("the step's name, with those of the pipelines around it, has more "
                               "than {} bytes",
                               kMaxStepNameBytes));
    if (entry.value.kind != Kind::mapping)
      return fault(node, entry.value.kind == Kind::null ? entry.place : entry.value.place,
                   fmt::format("step '{}' must be a mapping with a 'command' or a 'component', "
                               "not {}",
                               node.name, describe(entry.value.kind)));
    if (is_mistyped(entry)) return fault(node, entry.place, no_step(entry, steps));
    read_node(node);
  }

  void read_roles(PipelineNode& node) {
    for (const auto& [named, role] : {std::pair(node.settings.on_init, StepRole::on_init),
                                      std::pair(node.settings.on_finalize, StepRole::on_finalize)})
      if (named) set_role(node, *named, role);
  }

  void set_role(PipelineNode& pipeline, const PipelineSettings::Named& named, StepRole role) {
    const std::string_view key = role == StepRole::on_init ? "on_init" : "on_finalize";
    PipelineNode* node = pipeline.step(named.step);
    if (node == nullptr) {
      std::vector<std::string_view> names;
      for (const auto& [name, step] : pipeline.by_key) names.push_back(name);
      const std::string near = nearest(named.step, names);
      return fault(pipeline, named.place,
                   fmt::format("'settings.{}': there is no step '{}'{}", key, named.step,
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
    }
    if (node->kind == JobKind::pipeline)
      return fault(pipeline, named.place,
                   fmt::format("'settings.{}': '{}' is a pipeline; name a step with a command", key,
                               named.step));
    if (node->role != StepRole::main)
      return fault(pipeline, named.place,
                   fmt::format("'settings.{}': '{}' is on_init already", key, named.step));
    node->role = role;
  }

  const Source& source_;
  ComponentReader& components_;
  Faults& faults_;
  Notes& notes_;
  PipelineTree tree_;
  std::size_t count_ = 0;
};

}  // namespace

PipelineTree read_pipeline_tree(const Source& source, YamlNode& root, ComponentReader& components,
                                Faults& faults, Notes& notes) {
  return TreeReader(source, components, faults, notes).read(root);
}

void merge(YamlNode& base, const YamlNode& over) {
  if (base.kind != Kind::mapping || over.kind != Kind::mapping) {
    base = over;
    return;
  }
  for (const YamlEntry& entry : over.entries) {
    const auto same = std::find_if(base.entries.begin(), base.entries.end(),
                                   [&](const YamlEntry& one) { return one.key == entry.key; });
    if (same == base.entries.end())
      base.entries.push_back(entry);
    else
      merge(same->value, entry.value);
  }
}

}  // namespace lockstep::spec
