#pragma once
// Components: a command or a pipeline with typed inputs and outputs, in a file or inside a step.
// Each file is read once, however many steps use it.

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "launcher/spec/bound_output.h"
#include "launcher/spec/job_kind.h"
#include "launcher/spec/port_reader.h"
#include "launcher/spec/requirements.h"

namespace lockstep::spec {

struct Component {
  JobKind kind = JobKind::command;
  std::string shown;  // "./train.yml"; of an inline one "the component"
  Place place;        // of its beginning
  YamlNode tree;      // all its keys but inputs, outputs, and what only describes it
  std::vector<Port> inputs;
  std::vector<BoundOutput> outputs;
  bool is_deterministic = true;
  bool is_good = true;  // false: its faults are said, and steps that use it are not read

  const Port* input(std::string_view name) const;
};

inline constexpr std::size_t kMaxComponentFiles = 1'000;
inline constexpr std::size_t kMaxComponentBytes = 64u << 20;  // of all files

class ComponentReader {
 public:
  // `source` is the job file. Components and their places live as long as this.
  ComponentReader(const Source& source, const ReadText& read_text, Faults& faults)
      : source_(source), read_text_(read_text), faults_(faults) {}

  // `node` is the value of a step's `component`: a path or a mapping. nullptr behind a fault.
  Component* read(const YamlNode& node);

 private:
  struct File {
    std::string text;
    Source source;
  };

  Result<Component*> load(const YamlNode& node, const std::string& path);
  Component* interpret(YamlNode tree, std::string shown);
  void read_ports(Component& component, YamlNode ports, Faults& faults) const;

  const Source& source_;
  const ReadText& read_text_;
  Faults& faults_;
  std::deque<File> files_;
  std::deque<Component> components_;
  std::map<std::string, Component*> by_path_;
  std::size_t bytes_ = 0;
};

}  // namespace lockstep::spec
