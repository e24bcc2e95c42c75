#pragma once
// Reads components: a command or a pipeline with typed inputs and outputs, in a file, registered
// with the launcher, or inside a step. Each file is read once, however many steps use it.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/data/data_reference.h"
#include "launcher/files/data/bound_output.h"
#include "launcher/files/data/port_reader.h"
#include "launcher/files/environment/requirements.h"
#include "launcher/files/job/kind.h"

namespace lockstep::spec {

struct Component {
  JobKind kind = JobKind::command;
  std::string shown;  // "./train.yml"; for an inline component "the component"
  Place place;        // the place of its beginning
  YamlNode tree;      // all its keys except inputs, outputs, and those that only describe it
  std::vector<Port> inputs;
  std::vector<BoundOutput> outputs;
  bool is_deterministic = true;
  bool is_good = true;  // false: its faults are reported, and steps that use it are not read

  const Port* input(std::string_view name) const;
};

inline constexpr std::size_t kMaxComponentFiles = 1'000;
inline constexpr std::size_t kMaxComponentBytes = 64u << 20;  // the size of all files together

// A registered component on this machine.
struct FoundComponent {
  std::string folder;  // absolute; has all files that it names
  std::string file;    // the component's own file in `folder`
};
// Finds a registered component. An error's message has no place.
using FindComponent = std::function<Result<FoundComponent>(const AssetReference& reference)>;

class ComponentReader {
 public:
  // `source` is the job file; without `find`, registered components are refused. Components and
  // their places live as long as this.
  ComponentReader(const Source& source, const ReadText& read_text, const FindComponent& find,
                  Faults& faults)
      : source_(source), read_text_(read_text), find_(find), faults_(faults) {}

  // Reads a component. `node` is the value of a step's `component`: a path, "azureml:NAME:VERSION"
  // or a mapping. nullptr behind a fault.
  Component* read(const YamlNode& node);

 private:
  struct File {
    std::string text;
    Source source;
  };

  Component* read_file(const YamlNode& node);
  struct Found {
    std::string path;
    bool is_registered = false;
    std::string folder;  // the copy of a registered component
  };
  Result<Found> find_file(const YamlNode& node) const;
  Result<Component*> load(const YamlNode& node, const Found& found);
  Component* interpret(YamlNode tree, std::string shown);
  void read_ports(Component& component, YamlNode ports, Faults& faults) const;

  const Source& source_;
  const ReadText& read_text_;
  const FindComponent& find_;
  Faults& faults_;
  std::deque<File> files_;
  std::deque<Component> components_;
  // and by the folder of its copy
  std::map<std::pair<std::string, std::string>, Component*> by_path_;
  std::map<std::string, Component*> by_reference_;  // registered ones, as they are written
  std::size_t bytes_ = 0;
};

}  // namespace lockstep::spec
