#include "launcher/files/pipeline/step_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/files/data/output_path.h"
#include "launcher/files/pipeline/input_values.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

namespace {

using Kind = YamlNode::Kind;

// Keys that are read elsewhere, or only describe a component.
bool is_of_pipeline(std::string_view key) {
  for (const std::string_view one :
       {"$schema", "type", "name", "version", "component", "inputs", "outputs", "is_deterministic"})
    if (key == one) return true;
  return false;
}

// Whether a key's text has expressions of its own, or is a path.
bool has_own_expressions(std::string_view key) {
  return key == "command" || key == "code" || key == "environment";
}

class StepReader {
 public:
  StepReader(const Source& source, const PipelineNode& node, const ReadText& read_text,
             ReadEnvironments& environments, Faults& faults)
      : source_(source),
        node_(node),
        read_text_(read_text),
        environments_(environments),
        faults_(faults) {}

  ReadStep read() {
    ReadStep step;
    step.reuse = reuse(step.job.notes);
    StepPorts ports = read_ports(step);
    YamlNode tree = read_tree();
    Notes notes = std::move(step.job.notes);
    step.job =
        read_step(source_, std::move(tree), std::move(ports), read_text_, environments_, faults_);
    step.job.notes.insert(step.job.notes.begin(), notes.begin(), notes.end());
    return step;
  }

 private:
  void fault(const Place& place, const std::string& message) {
    faults_.add(place, source_.error(place, message));
  }

  bool reuse(Notes& notes) {
    bool reuse = node_.component == nullptr || node_.component->is_deterministic;
    if (const YamlEntry* name = node_.own->find("name"))
      notes.push_back(fmt::format("{}: 'name' is not used; the step is named '{}'",
                                  source_.where(name->place), node_.name));
    const YamlEntry* word = node_.own->find("is_deterministic");
    if (word != nullptr && lower_case(word->value.text) == "false") reuse = false;
    for (const PipelineNode* at = node_.parent; at != nullptr; at = at->parent)
      reuse = reuse && !at->settings.force_rerun &&
              (at->component == nullptr || at->component->is_deterministic);
    return reuse;
  }

  // ---- inputs and outputs ----------------------------------------------------------------------
  StepPorts read_ports(ReadStep& step) {
    StepPorts ports;
    for (const PipelineInput& input : node_.inputs) {
      if (const auto* literal = std::get_if<Literal>(&input.value))
        ports.inputs.literals[input.name] = literal->text;
      if (std::holds_alternative<Unset>(input.value)) ports.unset.insert(input.name);
      if (const auto* files = std::get_if<InputFiles>(&input.value))
        add_files(input, *files, ports.inputs);
      if (const auto* output = std::get_if<OutputOfStep>(&input.value))
        add_binding(input, *output, ports.inputs, step);
    }
    for (const BoundOutput& output : node_.outputs)
      if (output.output.name != kArtifacts) {
        OutputSpec& spec = ports.outputs.emplace_back(output_spec(output.output));
        if (!spec.path.empty()) ports.output_where[spec.name] = output.output.where;
        if (const auto store = default_datastore(); !store.empty())
          spec.path = with_default_datastore(std::move(spec.path), store);
      }
    return ports;
  }

  // The setting of the nearest pipeline that has one; "": the launcher's.
  std::string default_datastore() const {
    for (const PipelineNode* at = node_.parent; at != nullptr; at = at->parent)
      if (!at->settings.datastore.empty()) return at->settings.datastore;
    return "";
  }

  void add_files(const PipelineInput& input, const InputFiles& files, ReadInputs& inputs) {
    const DataTraits traits{input.name, files.type, files.mode};
    const Status read = read_data(source_, *files.node, files.key, traits, inputs);
    faults_.add(files.key, read);
  }

  void add_binding(const PipelineInput& input, const OutputOfStep& output, ReadInputs& inputs,
                   ReadStep& step) {
    DataInput data;
    data.name = input.name;
    data.type = output.type.value_or(InputType::uri_folder);
    if (input.port != nullptr) data.type = std::get<InputType>(input.port->type);
    data.type = input.type.value_or(data.type);
    data.mode = output.mode.value_or(InputMode::ro_mount);
    data.source =
        fmt::format("${{{{parent.jobs.{}.outputs.{}}}}}", output.step->name, output.output);
    if (data.mode == InputMode::direct)
      fault(input.place, fmt::format("'inputs.{}': an output of a step has no address; write mode: "
                                     "ro_mount or download",
                                     input.name));
    if (data.mode == InputMode::direct) data.mode = InputMode::ro_mount;
    const bool is_main = node_.role == StepRole::main;
    if (!is_main || output.step->role != StepRole::main)
      fault(input.place, fmt::format("'inputs.{}': {} is {}, so it is bound to no other step",
                                     input.name, is_main ? output.step->shown() : node_.shown(),
                                     (is_main ? output.step->role : node_.role) == StepRole::on_init
                                         ? "on_init"
                                         : "on_finalize"));
    inputs.data.push_back(std::move(data));
    step.bindings.push_back({input.name, output.step->name, output.output});
    step.places.push_back(input.place);
  }

  // ---- the other keys --------------------------------------------------------------------------
  YamlNode read_tree() {
    YamlNode tree;
    tree.kind = Kind::mapping;
    tree.place = node_.own->place;
    const Component* component = node_.component;
    if (component != nullptr) tree = component->tree;
    YamlNode own;
    own.kind = Kind::mapping;
    for (const YamlEntry& entry : node_.own->entries) {
      if (is_of_pipeline(entry.key)) continue;
      const bool is_fixed = entry.key == "command" || entry.key == "code";
      if (is_fixed && component != nullptr)
        fault(
            entry.place,
            fmt::format("'{}' cannot be combined with 'component', which has its own", entry.key));
      replace_whole(tree, entry);
      own.entries.push_back(entry);
      const bool is_read =
          has_own_expressions(entry.key) || put_in_literals(own.entries.back().value);
      if (!is_read) own.entries.pop_back();
    }
    merge(tree, own);
    if (tree.find("compute") == nullptr) inherit_compute(tree);
    return tree;
  }

  // Keys of the other distribution or environment would have no meaning, so they are dropped.
  static void replace_whole(YamlNode& tree, const YamlEntry& entry) {
    const bool is_other = entry.key == "environment" ||
                          (entry.key == "distribution" && entry.value.find("type") != nullptr);
    if (is_other)
      std::erase_if(tree.entries, [&](const YamlEntry& one) { return one.key == entry.key; });
  }

  // Puts in literals. False after an error; entries of a mapping with errors are removed.
  bool put_in_literals(YamlNode& node) {
    std::erase_if(node.items, [&](YamlNode& item) { return !put_in_literals(item); });
    std::erase_if(node.entries, [&](YamlEntry& entry) { return !put_in_literals(entry.value); });
    if (node.kind != Kind::scalar || !mentions_parent(node.text)) return true;
    return spec::put_in_literals(source_, node_, node, faults_);
  }

  void inherit_compute(YamlNode& tree) const {
    for (const PipelineNode* at = node_.parent; at != nullptr; at = at->parent) {
      const YamlNode* compute = at->settings.compute;
      if (compute == nullptr) continue;
      tree.entries.push_back({"compute", compute->place, *compute});
      return;
    }
  }

  const Source& source_;
  const PipelineNode& node_;
  const ReadText& read_text_;
  ReadEnvironments& environments_;
  Faults& faults_;
};

}  // namespace

ReadStep read_pipeline_step(const Source& source, const PipelineNode& node,
                            const ReadText& read_text, ReadEnvironments& environments,
                            Faults& faults) {
  return StepReader(source, node, read_text, environments, faults).read();
}

}  // namespace lockstep::spec
