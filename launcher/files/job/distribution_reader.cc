#include "launcher/files/job/distribution_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/split_words.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

namespace {

using Kind = Distribution::Kind;

constexpr std::string_view kTypes = "mpi, pytorch, tensorflow or ray";

// Whether the key belongs to this type.
bool is_of(Kind kind, std::string_view key) {
  constexpr std::array<std::string_view, 6> kOfRay = {"address",
                                                      "port",
                                                      "dashboard_port",
                                                      "include_dashboard",
                                                      "head_node_additional_args",
                                                      "worker_node_additional_args"};
  if (key == "type") return true;
  switch (kind) {
    case Kind::none: return false;
    case Kind::mpi:
    case Kind::pytorch: return key == "process_count_per_instance";
    case Kind::tensorflow: return key == "worker_count" || key == "parameter_server_count";
    case Kind::ray: return std::find(kOfRay.begin(), kOfRay.end(), key) != kOfRay.end();
  }
  return false;
}

// "tensorflow": the types to which the key belongs.
std::string types_with(std::string_view key) {
  std::string types;
  for (const Kind kind : {Kind::mpi, Kind::pytorch, Kind::tensorflow, Kind::ray})
    if (is_of(kind, key)) types += (types.empty() ? "" : " and ") + std::string(to_string(kind));
  return types;
}

class DistributionReader {
 public:
  DistributionReader(const Source& source, const YamlNode& section, int nodes, Faults& faults)
      : source_(source), section_(section), nodes_(nodes), faults_(faults) {}

  Distribution read() {
    const YamlNode* type = at("type");
    if (type == nullptr) {
      const bool lost_all = section_.entries.empty() && faults_.is_faulty("distribution");
      if (!lost_all && !faults_.is_faulty("distribution.type"))
        fault("type", section_.place, fmt::format("'distribution' needs a 'type': {}", kTypes));
      return {};
    }
    const auto word = known_word(source_, *type, "distribution.type", "distribution.type");
    if (!word) {
      faults_.add(type->place, word.error());
      faults_.mark_faulty("distribution.type");
      return {};
    }
    const Kind kind = distribution_kind_from(*word).value_or(Kind::none);
    refuse_foreign(kind);
    if (kind == Kind::tensorflow)
      return tensorflow_on(std::max(nodes_, 1), number("worker_count").value_or(nodes_),
                           number("parameter_server_count").value_or(0));
    Distribution distribution;
    distribution.kind = kind;
    distribution.processes_per_node = number("process_count_per_instance").value_or(1);
    if (kind == Kind::ray) distribution.ray = ray();
    return distribution;
  }

 private:
  const YamlNode* at(std::string_view key) const {
    const YamlEntry* entry = section_.find(key);
    return entry == nullptr || entry->value.kind == YamlNode::Kind::null ? nullptr : &entry->value;
  }
  std::optional<int> number(std::string_view key) const {
    const YamlNode* node = at(key);
    return node == nullptr ? std::nullopt : to_whole_number(node->text);
  }
  void fault(std::string_view key, const Place& place, std::string_view message) {
    faults_.add(place, source_.error(place, message));
    faults_.mark_faulty(join("distribution", key));
  }

  void refuse_foreign(Kind kind) {
    for (const YamlEntry& entry : section_.entries) {
      if (is_of(kind, entry.key)) continue;
      const std::string types = types_with(entry.key);
      fault(entry.key, entry.place,
            fmt::format("'distribution.{}' is a key of {}, not of {}; leave it out{}", entry.key,
                        types, to_string(kind),
                        kind == Kind::tensorflow
                            ? ", and write worker_count, the processes on all nodes together"
                            : ""));
    }
  }

  RaySettings ray() {
    RaySettings ray;
    if (const YamlNode* address = at("address")) ray.address = address->text;
    ray.port = number("port");
    ray.dashboard_port = number("dashboard_port");
    if (const YamlNode* dashboard = at("include_dashboard")) {
      const std::string word = lower_case(dashboard->text);
      if (word != "true" && word != "false")
        fault("include_dashboard", dashboard->place,
              fmt::format("'distribution.include_dashboard': '{}' is neither true nor false",
                          dashboard->text));
      ray.include_dashboard = word == "true";
    }
    ray.head_arguments = words("head_node_additional_args");
    ray.worker_arguments = words("worker_node_additional_args");
    return ray;
  }

  // Splits one text as a shell does, or takes a list of words.
  std::vector<std::string> words(std::string_view key) {
    const YamlNode* node = at(key);
    if (node == nullptr) return {};
    if (node->kind == YamlNode::Kind::scalar) {
      auto words = split_words(node->text);
      if (words) return *std::move(words);
      fault(key, node->place, fmt::format("'distribution.{}': {}", key, words.error().message));
      return {};
    }
    std::vector<std::string> words;
    bool good = node->kind == YamlNode::Kind::sequence;
    for (const YamlNode& item : node->items) {
      good = good && item.kind == YamlNode::Kind::scalar;
      words.push_back(item.text);
    }
    if (good) return words;
    fault(key, node->place,
          fmt::format("'distribution.{}' must be one string, or a list of strings", key));
    return {};
  }

  const Source& source_;
  const YamlNode& section_;
  const int nodes_;
  Faults& faults_;
};

}  // namespace

Distribution read_distribution(const Source& source, const YamlNode& section, int nodes,
                               Faults& faults) {
  return DistributionReader(source, section, nodes, faults).read();
}

Binding read_binding(const Source& source, const YamlNode& node, Faults& faults) {
  const auto word = known_word(source, node, "lockstep.binding", "lockstep.binding");
  if (!word) {
    faults.add(node.place, word.error());
    faults.mark_faulty("lockstep.binding");
  }
  return word ? binding_from(*word).value_or(Binding::automatic) : Binding::automatic;
}

}  // namespace lockstep::spec
