#include "launcher/files/job/placement_reader.h"

#include <fmt/format.h>

#include <cctype>

namespace lockstep::spec {
namespace {

using Kind = YamlNode::Kind;

class PlacementReader {
 public:
  PlacementReader(const Source& source, Faults& faults) : source_(source), faults_(faults) {}

  void read_azures(const YamlNode& section, ResourceRequest& resources, Notes& notes) {
    if (const YamlNode* type = at(section, "instance_type")) {
      resources.instance_type = type->text;
      if (type->text.empty())
        fault("resources.instance_type", *type,
              "'resources.instance_type' is empty; name a size, or leave it out");
    }
    const YamlNode* properties = at(section, "properties");
    if (properties == nullptr || properties->entries.empty()) return;
    std::vector<std::string> keys;
    for (const YamlEntry& entry : properties->entries) keys.push_back(entry.key);
    notes.push_back(fmt::format("{}: resources.properties is not used ({})",
                                source_.where(properties->place), fmt::join(keys, ", ")));
  }

  void read_ours(const YamlNode& section, ResourceRequest& resources) {
    if (const YamlNode* isolated = at(section, "isolated")) resources.isolated = flag(*isolated);
    if (const YamlNode* rdma = at(section, "rdma")) {
      const auto word = rdma_from(lower(rdma->text));
      if (!word)
        fault(
            "lockstep.rdma", *rdma,
            fmt::format("'lockstep.rdma': unknown word '{}'; it must be required, preferred or off",
                        rdma->text));
      resources.rdma = word.value_or(Rdma::off);
    }
    if (const YamlNode* labels = at(section, "labels"))
      for (const YamlEntry& label : labels->entries) resources.labels[label.key] = label.value.text;
    if (const YamlNode* nodes = at(section, "nodes")) resources.nodes = names(*nodes);
  }

 private:
  static const YamlNode* at(const YamlNode& section, std::string_view key) {
    const YamlEntry* entry = section.find(key);
    return entry == nullptr || entry->value.kind == Kind::null ? nullptr : &entry->value;
  }
  static std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }
  void fault(std::string_view path, const YamlNode& node, std::string_view message) {
    faults_.add(node.place, source_.error(node.place, message));
    faults_.mark_faulty(path);
  }

  bool flag(const YamlNode& node) {
    const std::string word = lower(node.text);
    if (word != "true" && word != "false")
      fault("lockstep.isolated", node,
            fmt::format("'lockstep.isolated': '{}' is neither true nor false", node.text));
    return word == "true";
  }

  // Reads names: a list, or one text with commas as for --nodelist.
  std::vector<std::string> names(const YamlNode& node) {
    std::vector<std::string> names;
    if (node.kind == Kind::scalar) {
      std::size_t begin = 0;
      while (begin <= node.text.size()) {
        const std::size_t end = std::min(node.text.find(',', begin), node.text.size());
        std::string name = node.text.substr(begin, end - begin);
        name.erase(0, name.find_first_not_of(' '));
        name.erase(name.find_last_not_of(' ') + 1);
        names.push_back(std::move(name));
        begin = end + 1;
      }
      return names;
    }
    for (const YamlNode& item : node.items) {
      if (item.kind == Kind::scalar)
        names.push_back(item.text);
      else
        fault("lockstep.nodes", item,
              fmt::format("'lockstep.nodes' must be a list of names, such as [n1, n2]; this is {}",
                          describe(item.kind)));
    }
    if (node.kind == Kind::mapping)
      fault("lockstep.nodes", node,
            "'lockstep.nodes' must be a list of names, such as [n1, n2]; this is a mapping");
    return names;
  }

  const Source& source_;
  Faults& faults_;
};

const YamlNode* section_called(const YamlNode& root, std::string_view key) {
  const YamlEntry* entry = root.find(key);
  return entry == nullptr || entry->value.kind != Kind::mapping ? nullptr : &entry->value;
}

}  // namespace

void read_placement(const Source& source, const YamlNode& root, Faults& faults,
                    ResourceRequest& resources, Notes& notes) {
  PlacementReader reader(source, faults);
  const YamlNode* azures = section_called(root, "resources");
  if (azures != nullptr) reader.read_azures(*azures, resources, notes);
  const YamlNode* ours = section_called(root, "lockstep");
  if (ours != nullptr) reader.read_ours(*ours, resources);
  // As with Slurm's --nodelist: without a number, all named nodes.
  const YamlEntry* count = azures == nullptr ? nullptr : azures->find("instance_count");
  const bool has_count = count != nullptr && count->value.kind != Kind::null;
  if (!has_count && !resources.nodes.empty())
    resources.instance_count = static_cast<int>(resources.nodes.size());
}

}  // namespace lockstep::spec
