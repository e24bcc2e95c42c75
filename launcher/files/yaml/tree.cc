#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

void set_source(YamlNode& node, const Source& source) {
  node.place.source = &source;
  for (auto& item : node.items) set_source(item, source);
  for (auto& entry : node.entries) {
    entry.place.source = &source;
    set_source(entry.value, source);
  }
}

const YamlEntry* YamlNode::find(std::string_view key) const {
  for (const auto& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

std::string_view describe(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::null: return "nothing";
    case YamlNode::Kind::scalar: return "a value";
    case YamlNode::Kind::sequence: return "a list";
    case YamlNode::Kind::mapping: return "a mapping";
  }
  return "nothing";
}

}  // namespace lockstep::spec
