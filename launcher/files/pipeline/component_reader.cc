#include "launcher/files/pipeline/component_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/files/data/component_rules.h"
#include "launcher/files/environment/environment_reference.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/parsed.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

namespace {

// Whether a key only describes a component; in a job it belongs to the step.
bool is_description(std::string_view key) {
  for (const std::string_view one : {"$schema", "type", "name", "version", "display_name",
                                     "description", "tags", "is_deterministic"})
    if (key == one) return true;
  return false;
}

constexpr std::string_view kRegistered = "azureml:";

// "./train.yml" or "file:train.yml".
Result<std::string> local_path_of(const std::string& text) {
  if (text.empty())
    return make_error(ErrorCode::invalid_argument, "is empty; name a file, such as ./train.yml");
  if (const auto marked = marked_file(text)) return *marked;
  if (text.find("://") != std::string::npos)
    return make_error(ErrorCode::unsupported,
                      fmt::format("{} is not supported yet; name a local file", text));
  return text;
}

// "azureml:train:3" or "azureml:train@latest".
Result<AssetReference> reference_in(const std::string& text) {
  if (text.starts_with("azureml://"))
    return make_error(ErrorCode::unsupported,
                      fmt::format("{} is not supported yet; name a file, or register it with "
                                  "`lockstep component create` and write azureml:NAME:VERSION",
                                  text));
  const auto parsed = parse_data_reference(text);
  if (!parsed) return parsed.error();
  const AssetReference* const reference =
      *parsed ? std::get_if<AssetReference>(&**parsed) : nullptr;
  if (reference != nullptr) return *reference;
  return make_error(ErrorCode::invalid_argument, text + " is not azureml:NAME:VERSION");
}

}  // namespace

const Port* Component::input(std::string_view name) const {
  for (const Port& port : inputs)
    if (port.name == name) return &port;
  return nullptr;
}

Component* ComponentReader::read(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::mapping) return interpret(node, "the component");
  if (node.kind != YamlNode::Kind::scalar) {
    faults_.add(node.place,
                source_.error(node.place, fmt::format("'component' must be a file's name or a "
                                                      "mapping, not {}",
                                                      describe(node.kind))));
    return nullptr;
  }
  if (!node.text.starts_with(kRegistered)) return read_file(node);
  if (const auto known = by_reference_.find(node.text); known != by_reference_.end())
    return known->second;
  return by_reference_[node.text] = read_file(node);
}

Component* ComponentReader::read_file(const YamlNode& node) {
  const auto found = find_file(node);
  if (!found) {
    faults_.add(node.place, source_.error(node.place, "'component': " + found.error().message,
                                          found.error().code));
    return nullptr;
  }
  const std::pair key{found->path, found->folder};
  if (const auto known = by_path_.find(key); known != by_path_.end()) return known->second;
  auto loaded = load(node, *found);
  if (!loaded) faults_.add(node.place, loaded.error());
  return by_path_[key] = loaded ? *loaded : nullptr;
}

Result<ComponentReader::Found> ComponentReader::find_file(const YamlNode& node) const {
  if (!node.text.starts_with(kRegistered)) {
    TRY_ASSIGN(const std::string path, local_path_of(node.text));
    const Source& named_by = source_.of(node.place);
    return Found{named_by.beside(path), named_by.is_registered, named_by.folder};
  }
  TRY_ASSIGN(const AssetReference reference, reference_in(node.text));
  if (find_) {
    TRY_ASSIGN(FoundComponent found, find_(reference));
    return Found{std::move(found.file), true, std::move(found.folder)};
  }
  return make_error(ErrorCode::unsupported,
                    fmt::format("{} is registered with a launcher, and none is asked here; name a "
                                "file, such as ./train.yml",
                                node.text));
}

Result<Component*> ComponentReader::load(const YamlNode& node, const Found& found) {
  const std::string& path = found.path;
  TRY(check_is_own_file(found.folder, source_, node.place, path));
  if (files_.size() >= kMaxComponentFiles)
    return source_.error(node.place,
                         fmt::format("there are more than {} component files", kMaxComponentFiles),
                         ErrorCode::resource_exhausted);
  auto text = read_text_(path);
  if (!text)
    return source_.error(node.place, fmt::format("'component': {}", text.error().message),
                         text.error().code);
  bytes_ += text->size();
  if (bytes_ > kMaxComponentBytes)
    return source_.error(node.place, "the component files have more than 64 MiB together",
                         ErrorCode::resource_exhausted);
  File& file = files_.emplace_back();
  file.text = *std::move(text);
  file.source = {path,          without_mark(file.text), "a component file",
                 "a 'command'", kMaxFileBytes,           kMaxJobNodes,
                 files_.size(), found.is_registered,     found.folder};
  TRY_ASSIGN(YamlNode tree, parse_yaml(file.source));
  set_source(tree, file.source);
  return interpret(std::move(tree), node.text);
}

Component* ComponentReader::interpret(YamlNode tree, std::string shown) {
  Component& component = components_.emplace_back();
  component.shown = std::move(shown);
  component.place = tree.place;
  Faults faults;
  const auto kind = read_kind(source_, tree, FileKind::component);
  if (!kind) {
    faults_.add(tree.place, kind.error());
    component.is_good = false;
    return &component;
  }
  component.kind = kind->value_or(JobKind::command);
  YamlNode ports;
  ports.kind = YamlNode::Kind::mapping;
  ports.place = tree.place;
  std::erase_if(tree.entries, [&](YamlEntry& entry) {
    const bool is_port = entry.key == "inputs" || entry.key == "outputs";
    if (is_port) {
      ports.entries.push_back(std::move(entry));
      return true;
    }
    if (entry.key == "is_deterministic") {
      const std::string word = lower_case(entry.value.text);
      component.is_deterministic = word != "false";
      if (word != "true" && word != "false")
        faults.add(entry.value.place,
                   source_.error(entry.value.place,
                                 fmt::format("'is_deterministic': '{}' is neither true nor false",
                                             entry.value.text)));
    }
    return is_description(entry.key);
  });
  read_ports(component, std::move(ports), faults);
  check_shapes(source_, tree, faults,
               component.kind == JobKind::pipeline ? pipeline_keys() : step_keys());
  component.tree = std::move(tree);
  component.is_good = faults.empty();
  faults_.add_all(faults);
  return &component;
}

void ComponentReader::read_ports(Component& component, YamlNode ports, Faults& faults) const {
  check_shapes(source_, ports, faults, port_keys());
  if (const YamlEntry* inputs = ports.find("inputs"))
    for (const YamlEntry& entry : inputs->value.entries) {
      if (faults.is_faulty(join("inputs", entry.key))) continue;
      if (auto port = read_port(source_, entry, faults))
        component.inputs.push_back(*std::move(port));
    }
  if (const YamlEntry* outputs = ports.find("outputs"))
    for (const YamlEntry& entry : outputs->value.entries)
      if (auto output = read_bound_output(source_, entry, faults))
        component.outputs.push_back(*std::move(output));
}

}  // namespace lockstep::spec
