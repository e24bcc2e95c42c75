#include "launcher/files/targets/fabric_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <span>

#include "common/base/nearest.h"
#include "common/base/quoted_name.h"
#include "common/domain/targets/compute.h"
#include "common/domain/targets/size.h"
#include "common/grammar/ip_network.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/operators_file.h"
#include "launcher/files/yaml/parsed.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {
namespace {

using Kind = YamlNode::Kind;

constexpr std::array<std::string_view, 1> kKeysOfFile = {"rules"};
constexpr std::array<std::string_view, 7> kKeysOfRule = {
    "target", "size", "labels", "interface", "network", "rdma", "environment_variables"};
constexpr std::size_t kMostOfList = 64;
constexpr std::size_t kMostNameBytes = 64;
// the longest name of an interface, by the kernel's limit
constexpr std::size_t kMostInterfaceBytes = 15;

// ---- words -------------------------------------------------------------------------------------

bool is_made_of(std::string_view word, std::string_view others) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [&](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) || others.find(static_cast<char>(c)) != others.npos;
  });
}

Status check_interface_name(const std::string& word) {
  if (word.front() == '=' || word.front() == '^')
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' is NCCL's way of writing; write the name alone", word));
  if (word.size() <= kMostInterfaceBytes && is_made_of(word, "._-@:") && word != "." &&
      word != "..")
    return {};
  return make_error(ErrorCode::invalid_argument,
                    quoted_name(word) + " is not an interface's name, such as eth1");
}

Status check_network(const std::string& word) {
  if (word.find('/') != std::string::npos && parse_ip_network(word)) return {};
  return make_error(ErrorCode::invalid_argument,
                    quoted_name(word) +
                        " is not a network: write ADDRESS/BITS, as in 10.1.0.0/16, without bits "
                        "behind the prefix");
}

// A port such as "mlx5_0" or "mlx5_0:1".
Status check_rdma_port(const std::string& word) {
  const auto colon = word.find(':');
  const std::string device = word.substr(0, colon);
  const std::string port = colon == std::string::npos ? "1" : word.substr(colon + 1);
  const bool is_number = !port.empty() && port.size() <= 3 &&
                         port.find_first_not_of("0123456789") == std::string::npos;
  if (device.size() <= kMostNameBytes && is_made_of(device, "_-.") && is_number) return {};
  return make_error(
      ErrorCode::invalid_argument,
      quoted_name(word) + " is not an RDMA port: write DEVICE or DEVICE:PORT, as in mlx5_0:1");
}

Status check_size_name(const std::string& word) {
  if (word.size() <= kMostNameBytes && is_made_of(word, "_-.")) return {};
  return make_error(ErrorCode::invalid_argument, quoted_name(word) + " is not a size's name");
}

Status check_target(const std::string& word) { return check_compute_name(word); }

Status check_variable(const std::string& name) {
  const bool is_name = name.size() <= kMaxSettingNameBytes && is_made_of(name, "_") &&
                       std::isdigit(static_cast<unsigned char>(name.front())) == 0;
  if (is_name && is_network_variable(name)) return {};
  return make_error(
      ErrorCode::invalid_argument,
      is_name ? fmt::format("{} is not a variable of the network; those begin with NCCL_, UCX_, "
                            "OMPI_MCA_, GLOO_, FI_ and the like",
                            name)
              : quoted_name(name) + " is not a variable's name");
}

// ---- one rule ----------------------------------------------------------------------------------

class RuleReader {
 public:
  RuleReader(const Source& source, const YamlNode& node, Faults& faults)
      : source_(source),
        node_(node),
        faults_(faults),
        rule_text_(fmt::format("{}:{}", std::filesystem::path(source.name).filename().string(),
                               node.place.line)) {}

  FabricRule read() {
    FabricRule rule;
    if (node_.kind != Kind::mapping) {
      fault(node_.place, fmt::format("a rule must be a mapping, not {}", describe(node_.kind)));
      return rule;
    }
    check_keys();
    rule.targets = words("target", check_target);
    rule.sizes = words("size", check_size_name);
    for (std::string& size : rule.sizes) size = size_key(size);
    rule.labels = labels();
    read_interface(rule);
    read_rdma(rule);
    rule.variables = variables();
    const bool sets_nothing = at("interface") == nullptr && at("network") == nullptr &&
                              at("rdma") == nullptr && at("environment_variables") == nullptr;
    if (sets_nothing)
      fault(node_.place,
            "this rule sets nothing: it needs 'interface', 'network', 'rdma' or "
            "'environment_variables'");
    return rule;
  }

 private:
  void fault(const Place& place, const std::string& message) {
    faults_.add(place, source_.error(place, message));
  }
  const YamlNode* at(std::string_view key) const {
    const YamlEntry* found = node_.find(key);
    return found == nullptr ? nullptr : &found->value;
  }

  void check_keys() {
    for (const YamlEntry& entry : node_.entries) {
      if (std::find(kKeysOfRule.begin(), kKeysOfRule.end(), entry.key) != kKeysOfRule.end())
        continue;
      const std::string near = nearest(entry.key, kKeysOfRule);
      fault(entry.place,
            fmt::format("unknown key '{}'; {}", entry.key,
                        near.empty() ? fmt::format("a rule has {}", fmt::join(kKeysOfRule, ", "))
                                     : fmt::format("did you mean '{}'?", near)));
    }
  }

  // Reads one word, or a list of words.
  std::vector<std::string> words(std::string_view key, Status (*check)(const std::string&)) {
    const YamlNode* value = at(key);
    if (value == nullptr) return {};
    const std::span<const YamlNode> items = value->kind == Kind::sequence
                                                ? std::span<const YamlNode>(value->items)
                                                : std::span<const YamlNode>(value, 1);
    if (items.empty() || items.size() > kMostOfList) {
      fault(value->place, fmt::format("'{}' must have 1 to {} names", key, kMostOfList));
      return {};
    }
    std::vector<std::string> found;
    for (const YamlNode& item : items) {
      if (item.kind != Kind::scalar || item.text.empty()) {
        fault(item.place,
              fmt::format("'{}' must be a name, or a list of names, not {}", key,
                          item.kind == Kind::scalar ? "an empty text" : describe(item.kind)));
      } else if (const Status good = check(item.text); !good) {
        fault(item.place, fmt::format("'{}': {}", key, good.error().message));
      } else if (std::find(found.begin(), found.end(), item.text) != found.end()) {
        fault(item.place, fmt::format("'{}': {} is there twice", key, quoted_name(item.text)));
      } else {
        found.push_back(item.text);
      }
    }
    return found;
  }

  NodeLabels labels() {
    NodeLabels found;
    const YamlNode* value = at("labels");
    if (value == nullptr) return found;
    if (value->kind != Kind::mapping || value->entries.empty()) {
      fault(value->place, "'labels' must be a mapping of labels to values, as {rack: r7}");
      return found;
    }
    for (const YamlEntry& entry : value->entries) {
      const bool is_text = entry.value.kind == Kind::scalar;
      const Status key = check_label_key(entry.key);
      const Status text = is_text ? check_label_value(entry.value.text) : Status();
      if (!key) fault(entry.place, fmt::format("'labels': {}", key.error().message));
      if (!is_text)
        fault(entry.value.place, fmt::format("'labels.{}' must be a text, not {}", entry.key,
                                             describe(entry.value.kind)));
      if (!text) fault(entry.value.place, fmt::format("'labels': {}", text.error().message));
      if (key && is_text && text) found[entry.key] = entry.value.text;
    }
    return found;
  }

  void read_interface(FabricRule& rule) {
    OperatorInterface interface;
    interface.names = words("interface", check_interface_name);
    interface.networks = words("network", check_network);
    interface.rule = rule_text_;
    if (!interface.names.empty() || !interface.networks.empty())
      rule.interface = std::move(interface);
  }

  void read_rdma(FabricRule& rule) {
    const YamlNode* value = at("rdma");
    if (value == nullptr) return;
    rule.rdma.emplace().rule = rule_text_;
    if (value->kind == Kind::scalar && value->text == "none") return;
    rule.rdma->ports = words("rdma", check_rdma_port);
    if (std::find(rule.rdma->ports.begin(), rule.rdma->ports.end(), "none") !=
        rule.rdma->ports.end())
      fault(value->place, "'rdma': none stands alone; leave it out of the list");
  }

  std::vector<OperatorVariable> variables() {
    std::vector<OperatorVariable> found;
    const YamlNode* value = at("environment_variables");
    if (value == nullptr) return found;
    if (value->kind != Kind::mapping || value->entries.empty() ||
        value->entries.size() > kMaxOperatorVariables) {
      fault(value->place, fmt::format("'environment_variables' must be a mapping of 1 to {} "
                                      "variables to values",
                                      kMaxOperatorVariables));
      return found;
    }
    for (const YamlEntry& entry : value->entries) {
      if (const Status good = check_variable(entry.key); !good)
        fault(entry.place, good.error().message);
      else if (entry.value.kind != Kind::scalar || entry.value.text.empty())
        fault(
            entry.value.place,
            fmt::format("the value of {} must be a text, not {}", entry.key,
                        entry.value.kind == Kind::scalar ? "nothing" : describe(entry.value.kind)));
      else if (!is_value(entry.value.text))
        fault(entry.value.place,
              fmt::format("the value of {} has control characters, or more than {} bytes",
                          entry.key, kMaxSettingTextBytes));
      else
        found.push_back({entry.key, entry.value.text, rule_text_});
    }
    return found;
  }
  static bool is_value(const std::string& text) {
    return text.size() <= kMaxSettingTextBytes &&
           std::none_of(text.begin(), text.end(),
                        [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  }

  const Source& source_;
  const YamlNode& node_;
  Faults& faults_;
  const std::string rule_text_;
};

// Whether a file has only comments and counts as empty.
bool has_only_comments(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
  }
  return true;
}

bool fits(const std::vector<std::string>& wanted, const std::string& has) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), has) != wanted.end();
}

bool fits(const FabricRule& rule, const RuledNode& node) {
  const bool has_labels =
      std::all_of(rule.labels.begin(), rule.labels.end(), [&](const auto& wanted) {
        const auto found = node.labels.find(wanted.first);
        return found != node.labels.end() && found->second == wanted.second;
      });
  return has_labels && fits(rule.targets, node.target) && fits(rule.sizes, size_key(node.size));
}

}  // namespace

Result<FabricRules> read_fabric_rules(const std::string& name, std::string_view text) {
  const Source source{name, without_mark(text), "a file of network rules", "one rule"};
  FabricRules rules;
  if (has_only_comments(source.text)) return rules;
  TRY_ASSIGN(const YamlNode root, parse_yaml(source));
  Faults faults;
  for (const YamlEntry& entry : root.entries) {
    if (entry.key == kKeysOfFile.front()) continue;
    const std::string near = nearest(entry.key, kKeysOfFile);
    faults.add(entry.place,
               source.error(entry.place,
                            fmt::format("unknown key '{}'; {}", entry.key,
                                        near.empty() ? "the file has 'rules', a list"
                                                     : fmt::format("did you mean '{}'?", near))));
  }
  const YamlEntry* list = root.find(kKeysOfFile.front());
  if (list != nullptr && list->value.kind != Kind::sequence)
    faults.add(list->place, source.error(list->place, fmt::format("'rules' must be a list, not {}",
                                                                  describe(list->value.kind))));
  if (list != nullptr && list->value.items.size() > kMaxFabricRules)
    faults.add(list->place, source.error(list->place, fmt::format("'rules' has more than {} rules",
                                                                  kMaxFabricRules)));
  if (list != nullptr)
    for (const YamlNode& item : list->value.items)
      rules.push_back(RuleReader(source, item, faults).read());
  TRY(faults.status());
  return rules;
}

Result<FabricRules> load_fabric_rules(const std::string& path) {
  // The file sets variables of everybody's ranks, so its rights are checked.
  TRY_ASSIGN(const std::optional<std::string> text,
             read_operators_file(path, Bytes{kMaxFileBytes}));
  return text ? read_fabric_rules(path, *text) : FabricRules();
}

OperatorSettings settings_of(const FabricRules& rules, const RuledNode& node) {
  OperatorSettings settings;
  std::map<std::string, OperatorVariable> variables;
  for (const FabricRule& rule : rules) {
    if (!fits(rule, node)) continue;
    if (rule.interface) settings.interface = rule.interface;
    if (rule.rdma) settings.rdma = rule.rdma;
    for (const OperatorVariable& one : rule.variables) variables[one.name] = one;
  }
  for (auto& [name, variable] : variables)
    if (settings.variables.size() < kMaxOperatorVariables)
      settings.variables.push_back(std::move(variable));
  return settings;
}

}  // namespace lockstep::spec
