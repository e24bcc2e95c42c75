#pragma once
// A pipeline as its files describe it: a tree of nested pipelines with command steps at its ends.
// Components are loaded; nothing is bound yet.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/data/data_reference.h"
#include "common/domain/job/pipeline.h"
#include "launcher/files/environment/conda_file.h"
#include "launcher/files/pipeline/component_reader.h"
#include "launcher/files/pipeline/settings_reader.h"

namespace lockstep::spec {

inline constexpr int kMaxPipelineDepth = 50;  // the depth of pipelines inside each other

struct PipelineNode;

// ---- what an input is bound to (pipeline/input_values.h) ----------------------------------------
struct Unset {};  // optional, without a value
struct Literal {
  std::string text;
  Place place;  // the place where it is written
};
struct InputFiles {                // data that a file, an address or the launcher has
  const YamlNode* node = nullptr;  // the input's mapping {type, path, mode}
  Place key;                       // the place of its name
  std::optional<InputType> type;   // nullopt: the file does not give it
  std::optional<InputMode> mode;
};
struct OutputOfStep {
  const PipelineNode* step = nullptr;  // a command step
  std::string output;
  std::optional<InputType> type;  // nullopt: any type, as ./outputs and ./logs have
  Place place;                    // the place of the output's type
  std::optional<InputMode> mode;
};
using Value =
    // first alternative: faulty
    std::variant<std::monostate, Unset, Literal, InputFiles, OutputOfStep>;

struct PipelineInput {
  std::string name;
  const Port* port = nullptr;       // the port that the component declares
  const YamlNode* given = nullptr;  // the step's value; nullptr: it has none
  Place place;                      // the place of the value's name, otherwise of the step
  std::optional<InputType> type;    // only for data, from the step or the component
  std::optional<InputMode> mode;
  enum class State { open, busy, done } state = State::open;
  Value value;
};

// A command step or a pipeline; the root is the pipeline of the job file.
struct PipelineNode {
  std::string key;   // "prepare"
  std::string name;  // "outer.prepare"; "" of the root
  Place place;       // the place of its key
  PipelineNode* parent = nullptr;
  int depth = 0;
  JobKind kind = JobKind::command;
  YamlNode* own = nullptr;  // the step's mapping in the pipeline's file
  Component* component = nullptr;
  Faults faults;          // the faults of its own mapping
  bool is_good = true;    // false: its faults are reported, and it is not read further
  bool has_ports = true;  // false: its inputs and outputs are not known
  std::vector<PipelineInput> inputs;
  std::vector<BoundOutput> outputs;
  StepRole role = StepRole::main;
  // the settings of a pipeline
  PipelineSettings settings;
  std::vector<std::unique_ptr<PipelineNode>> steps;
  std::vector<std::pair<std::string, PipelineNode*>> by_key = {};  // sorted

  PipelineInput* input(std::string_view name);
  BoundOutput* output(std::string_view name);
  PipelineNode* step(std::string_view key) const;
  // "step 'outer.prepare'", "the pipeline".
  std::string shown() const;
};

struct PipelineTree {
  std::unique_ptr<PipelineNode> root;
  std::vector<PipelineNode*> steps;      // command steps, in the order of the files
  std::vector<PipelineNode*> pipelines;  // each one before those inside it
  std::deque<Port> ports;                // inputs of the job file that have a type
  std::deque<YamlNode> overridden;       // pipelines of components with keys of --set
};

// Reads a tree. `root` is the job file's tree, which the result refers to. Every fault is added to
// `faults`.
PipelineTree read_pipeline_tree(const Source& source, YamlNode& root, ComponentReader& components,
                                Faults& faults, Notes& notes);

// Puts the keys of `over` over the keys of `base`; mappings are merged key by key.
void merge(YamlNode& base, const YamlNode& over);

}  // namespace lockstep::spec
