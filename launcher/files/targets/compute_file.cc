#include "launcher/files/targets/compute_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/base/nearest.h"
#include "launcher/files/targets/cluster_reader.h"
#include "launcher/files/targets/hosts_reader.h"
#include "launcher/files/targets/instance_reader.h"
#include "launcher/files/yaml/named_text.h"
#include "launcher/files/yaml/parsed.h"
#include "launcher/files/yaml/shapes.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {
namespace {

constexpr std::array<std::string_view, 18> kKeysOfComputes{"$schema",
                                                           "name",
                                                           "type",
                                                           "description",
                                                           "location",
                                                           "tags",
                                                           "lockstep",
                                                           "ssh_settings",
                                                           "resource_id",
                                                           "size",
                                                           "tier",
                                                           "min_instances",
                                                           "max_instances",
                                                           "idle_time_before_scale_down",
                                                           "idle_time_before_shutdown",
                                                           "idle_time_before_shutdown_minutes",
                                                           "schedules",
                                                           "namespace"};
constexpr std::array<std::string_view, 10> kKeysOfOurs{"node_source", "hosts",  "ssh",    "tunnel",
                                                       "share",       "labels", "docker", "slurm",
                                                       "kubernetes",  "command"};
// Azure's keys of types that are not supported yet, or without a meaning here yet.
constexpr std::array<std::string_view, 12> kKeysNotYet{"ssh_public_access_enabled",
                                                       "enable_sso",
                                                       "enable_root_access",
                                                       "enable_os_patching",
                                                       "release_quota_on_stop",
                                                       "custom_applications",
                                                       "network_settings",
                                                       "enable_node_public_ip",
                                                       "identity",
                                                       "setup_scripts",
                                                       "create_on_behalf_of",
                                                       "properties"};
constexpr std::array<std::string_view, 4> kTypesNotYet{"synapsespark", "batch", "databricks",
                                                       "datafactory"};
constexpr std::array<std::string_view, 4> kKeysOfJobs{"command", "jobs", "trial", "component"};
constexpr std::string_view kTypes =
    "supported types: local, virtualmachine, amlcompute, kubernetes, computeinstance";
constexpr std::string_view sources_of(ComputeType type) {
  if (type == ComputeType::computeinstance) return "node sources: docker, ssh, slurm, command";
  return type == ComputeType::amlcompute ? "node sources: docker, ssh, slurm, kubernetes, command"
                                         : "node sources: ssh, join";
}
constexpr std::string_view kJoin =
    "`node_source: join` (in a file below `lockstep:`; in a command: --node-source join) makes a "
    "target "
    "whose nodes join with a token";

bool has(const auto& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class ComputeReader {
 public:
  ComputeReader(const Source& source, YamlNode root, Faults& faults)
      : source_(source), root_(std::move(root)), faults_(faults) {}

  ComputeSpec read() {
    ComputeSpec spec;
    if (is_job()) return spec;
    if (!read_type(spec)) return spec;
    for (const YamlEntry& entry : root_.entries) check_key(entry);
    spec.name = text("name");
    spec.description = text("description");
    spec.location = text("location");
    read_tags(spec);
    read_ours(spec);
    check_whole(spec);
    return spec;
  }

 private:
  void fault(const Place& place, std::string_view message,
             ErrorCode code = ErrorCode::invalid_argument) {
    faults_.add(place, source_.error(place, message, code));
  }
  void fault(std::string_view key, const Place& place, std::string_view message) {
    fault(place, message);
    faults_.mark_faulty(key);
  }
  const YamlEntry* at(std::string_view key) const {
    const YamlEntry* entry = root_.find(key);
    return entry == nullptr || entry->value.kind == YamlNode::Kind::null ? nullptr : entry;
  }

  bool is_job() {
    const auto found =
        std::find_if(root_.entries.begin(), root_.entries.end(),
                     [](const YamlEntry& entry) { return has(kKeysOfJobs, entry.key); });
    if (found == root_.entries.end()) return false;
    fault(found->place, fmt::format("'{}' is a key of a job file, but this must be a compute "
                                    "target; `lockstep job create -f {}` submits a job",
                                    found->key, source_.name));
    return true;
  }

  bool read_type(ComputeSpec& spec) {
    const YamlEntry* type = at("type");
    if (type == nullptr) {
      fault(root_.place, fmt::format("a compute target needs a 'type'; {}", kTypes));
      return false;
    }
    if (type->value.kind != YamlNode::Kind::scalar) {
      fault(type->value.place,
            fmt::format("'type' must be a string, not {}", describe(type->value.kind)));
      return false;
    }
    const auto known = compute_type(type->value.text);
    if (known)
      spec.type = *known;
    else
      fault(type->value.place, "'type': " + known.error().message, known.error().code);
    return known.has_value();
  }

  void check_key(const YamlEntry& entry) {
    if (has(kKeysOfComputes, entry.key)) return;
    if (has(kKeysNotYet, entry.key)) {
      if (!is_empty(entry.value))
        faults_.add(entry.place, not_yet(source_, entry.place, fmt::format("'{}'", entry.key)));
      return;
    }
    std::string message = fmt::format("unknown key '{}'", entry.key);
    const std::string near = nearest(entry.key, kKeysOfComputes);
    if (!near.empty()) message += fmt::format("; did you mean '{}'?", near);
    fault(entry.place, message);
  }

  std::string text(std::string_view key) {
    const YamlEntry* entry = at(key);
    if (entry == nullptr) return "";
    if (entry->value.kind == YamlNode::Kind::scalar) return entry->value.text;
    fault(key, entry->value.place,
          fmt::format("'{}' must be a string, not {}", key, describe(entry->value.kind)));
    return "";
  }

  void read_tags(ComputeSpec& spec) {
    const YamlEntry* tags = at("tags");
    if (tags == nullptr) return;
    if (tags->value.kind != YamlNode::Kind::mapping)
      return fault("tags", tags->value.place,
                   fmt::format("'tags' must be a mapping of keys to values, not {}",
                               describe(tags->value.kind)));
    for (const YamlEntry& tag : tags->value.entries) {
      if (tag.value.kind == YamlNode::Kind::scalar)
        spec.tags[tag.key] = tag.value.text;
      else
        fault("tags", tag.place,
              fmt::format("'tags.{}' must be a string, not {}", tag.key, describe(tag.value.kind)));
    }
  }

  void read_ours(ComputeSpec& spec) {
    const YamlEntry* ours = at("lockstep");
    if (ours != nullptr && ours->value.kind != YamlNode::Kind::mapping)
      return fault(ours->value.place,
                   fmt::format("'lockstep' must be a mapping of keys to values, not {}",
                               describe(ours->value.kind)));
    if (ours != nullptr)
      for (const YamlEntry& entry : ours->value.entries) check_key_of_ours(entry);
    if (ours != nullptr) read_labels(ours->value, spec);
    if (!read_node_source(spec)) return;
    read_cluster(source_, root_, spec, faults_);
    read_instance(source_, root_, spec, faults_);
    if (spec.source == NodeSource::ssh)
      read_hosts(source_, root_, spec, faults_);
    else
      refuse_hosts(source_, root_, spec, faults_);
  }

  void read_labels(const YamlNode& ours, ComputeSpec& spec) {
    const YamlEntry* labels = ours.find("labels");
    if (labels == nullptr || is_empty(labels->value)) return;
    if (labels->value.kind != YamlNode::Kind::mapping)
      return fault(labels->value.place,
                   fmt::format("'lockstep.labels' must be a mapping of keys to values, not {}",
                               describe(labels->value.kind)));
    for (const YamlEntry& label : labels->value.entries) {
      if (label.value.kind != YamlNode::Kind::scalar) {
        fault(label.place, fmt::format("'lockstep.labels.{}' must be a string, not {}", label.key,
                                       describe(label.value.kind)));
        continue;
      }
      Status good = check_label_key(label.key);
      if (good) good = check_label_value(label.value.text);
      if (!good) fault(label.place, "'lockstep.labels': " + good.error().message);
      spec.labels[label.key] = label.value.text;
    }
  }

  void check_key_of_ours(const YamlEntry& entry) {
    if (has(kKeysOfOurs, entry.key)) return;
    const std::string near = nearest(entry.key, kKeysOfOurs);
    fault(entry.place,
          fmt::format("unknown key 'lockstep.{}'; {}", entry.key,
                      near.empty() ? fmt::format("there are {}", fmt::join(kKeysOfOurs, ", "))
                                   : fmt::format("did you mean 'lockstep.{}'?", near)));
  }

  bool read_node_source(ComputeSpec& spec) {
    const YamlEntry* ours = at("lockstep");
    const YamlEntry* written = ours == nullptr ? nullptr : ours->value.find("node_source");
    if (written != nullptr && written->value.kind == YamlNode::Kind::null) written = nullptr;
    if (written != nullptr && written->value.kind != YamlNode::Kind::scalar) {
      fault(written->value.place, fmt::format("'lockstep.node_source' must be a string, not {}",
                                              describe(written->value.kind)));
      return false;
    }
    std::string word = written == nullptr ? "" : written->value.text;
    const bool is_local = spec.type == ComputeType::local;
    const bool has_clusters_sources =
        spec.type == ComputeType::amlcompute || spec.type == ComputeType::computeinstance;
    if (word.empty() && has_clusters_sources) word = to_string(implied_source(root_));
    const bool may_name_hosts = !is_local && spec.type != ComputeType::kubernetes;
    if (word.empty() && may_name_hosts && names_hosts(root_)) word = to_string(NodeSource::ssh);
    const auto known = node_source(spec.type, word);
    if (known)
      spec.source = *known;
    else
      fault((written == nullptr ? at("type") : written)->value.place, known.error().message,
            known.error().code);
    return known.has_value();
  }

  // Runs the domain's own checks.
  void check_whole(const ComputeSpec& spec) {
    if (at("name") == nullptr) return fault(root_.place, "a compute target needs a 'name'");
    if (faults_.is_faulty("name")) return;
    if (spec.name == kLocalCompute)
      return fault(at("name")->value.place, "target 'local' always exists; choose another name");
    if (const Status named = check_compute_name(spec.name); !named)
      return fault(at("name")->value.place, "'name': " + named.error().message);
    if (!faults_.empty()) return;
    if (const Status good = check(spec); !good) fault(root_.place, good.error().message);
  }

  const Source& source_;
  YamlNode root_;
  Faults& faults_;
};

}  // namespace

namespace {

Result<NodeSource> cluster_source(ComputeType type, const std::string& word) {
  const std::string_view all = sources_of(type);
  for (const NodeSource source : {NodeSource::docker, NodeSource::ssh, NodeSource::slurm,
                                  NodeSource::kubernetes, NodeSource::command})
    if (to_string(source) == word) return source;
  if (word.empty())
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format(
            "a target of this type needs something that makes its machines; {}. In a file, for "
            "example `lockstep: {{docker: {{image: IMAGE}}}}`; in a command --node-source "
            "docker --image IMAGE",
            all));
  if (word == "join")
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("nodes that join with a token make a virtualmachine, not a "
                                  "cluster; {}",
                                  all));
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is not a node source; {}", word, all));
}

}  // namespace

Result<ComputeType> compute_type(const std::string& word) {
  std::string low = word;
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const ComputeType type :
       {ComputeType::local, ComputeType::virtualmachine, ComputeType::amlcompute,
        ComputeType::kubernetes, ComputeType::computeinstance})
    if (to_string(type) == low) return type;
  if (has(kTypesNotYet, low))
    return make_error(ErrorCode::unsupported,
                      fmt::format("'{}' is not supported yet; {}", word, kTypes));
  static constexpr std::array<std::string_view, 5> kKnown{"local", "virtualmachine", "amlcompute",
                                                          "kubernetes", "computeinstance"};
  const std::string near = nearest(low, kKnown);
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is not a type of compute target; {}{}", word, kTypes,
                                near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

Result<NodeSource> node_source(ComputeType type, const std::string& word) {
  switch (type) {
    case ComputeType::local:
      if (word.empty()) return NodeSource::none;
      return make_error(ErrorCode::invalid_argument,
                        "a target of type local has the nodes of target 'local' and takes no node "
                        "source; leave the node source out");
    case ComputeType::amlcompute:
    case ComputeType::computeinstance: return cluster_source(type, word);
    case ComputeType::kubernetes:
      if (word.empty() || word == to_string(NodeSource::kubernetes)) return NodeSource::kubernetes;
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("the machines of a target of type kubernetes are pods; leave "
                                    "the node source '{}' out, or make the target an amlcompute",
                                    word));
    case ComputeType::virtualmachine: break;
  }
  for (const NodeSource source : {NodeSource::join, NodeSource::ssh})
    if (to_string(source) == word) return source;
  if (word.empty())
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("a virtualmachine needs machines: name them (in a file below `lockstep.hosts`; "
                    "in a command: --host ADDRESS), and the launcher attaches them over ssh; or {}",
                    kJoin));
  static constexpr std::array<std::string_view, 4> kOfClusters{"docker", "slurm", "kubernetes",
                                                               "command"};
  if (has(kOfClusters, word))
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("node source '{}' is for a target of type amlcompute; {}", word,
                                  sources_of(type)));
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is not a node source; {}", word, sources_of(type)));
}

Result<ComputeSpec> parse_compute(const std::string& name, std::string_view text,
                                  const std::vector<std::string>& overrides) {
  const Source source{name, without_mark(text), "a compute file", "a 'name' and a 'type'"};
  TRY_ASSIGN(YamlNode root, parse_yaml(source));
  Faults faults;
  for (const auto& assignment : overrides) {
    Place place;
    place.override_text = assignment;
    faults.add(place, apply_override(root, assignment));
  }
  ComputeSpec spec = ComputeReader(source, std::move(root), faults).read();
  TRY(faults.status());
  return spec;
}

Result<ComputeSpec> load_compute(const std::string& path,
                                 const std::vector<std::string>& overrides) {
  TRY_ASSIGN(const NamedText file, read_named_text(path, Bytes{kMaxFileBytes + 1}));
  return parse_compute(file.name, file.text, overrides);
}

}  // namespace lockstep::spec
