#include "launcher/files/environment/conda_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "common/base/nearest.h"
#include "common/domain/environment/variables.h"
#include "common/grammar/conda_channel.h"
#include "launcher/files/environment/match_spec.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/keys.h"
#include "launcher/files/yaml/parsed.h"

namespace lockstep::spec {
namespace {

constexpr std::array<std::string_view, 7> kKeys{
    "name", "channels", "dependencies", "variables", "prefix", "channel_priority", "platforms"};
constexpr std::string_view kUsualPlatform = "linux-64";
// The channels that conda uses for `defaults` on Linux.
constexpr std::array<std::string_view, 2> kDefaults{"https://repo.anaconda.com/pkgs/main",
                                                    "https://repo.anaconda.com/pkgs/r"};

class CondaReader {
 public:
  CondaReader(const Source& source, const YamlNode& mapping, const std::string& section,
              const ReadText& read_text, Notes& notes)
      : source_(source),
        mapping_(mapping),
        section_(section),
        read_text_(checked(read_text)),
        notes_(notes) {}

  Result<CondaFile> read() {
    for (const YamlEntry& entry : mapping_.entries)
      if (std::find(kKeys.begin(), kKeys.end(), entry.key) == kKeys.end())
        return unknown_key(entry);
    TRY(read_name());
    TRY(read_channels());
    TRY(read_priority());
    TRY(read_platforms());
    TRY(read_dependencies());
    TRY(read_variables());
    if (const YamlEntry* prefix = mapping_.find("prefix"))
      notes_.push_back(fmt::format(
          "{}: '{}' is ignored: each node's agent decides where its environments are stored",
          source_.where(prefix->place), shown("prefix")));
    TRY(validate_whole());
    return std::move(file_);
  }

 private:
  std::string shown(std::string_view key) const { return section_ + std::string(key); }
  Error error(const Place& place, const std::string& message,
              ErrorCode code = ErrorCode::invalid_argument) const {
    return source_.error(place, message, code);
  }

  // Finds a key; nullptr: missing, or null.
  const YamlNode* at(std::string_view key) const {
    const YamlEntry* entry = mapping_.find(key);
    const bool is_there = entry != nullptr && entry->value.kind != YamlNode::Kind::null;
    return is_there ? &entry->value : nullptr;
  }

  Error unknown_key(const YamlEntry& entry) const {
    if (entry.key == "locked")
      return error(
          entry.place,
          fmt::format(
              "'{}' is only the number of packages in a lock file; name the lock file itself",
              shown("locked")),
          ErrorCode::unsupported);
    if (find_key("environment." + entry.key) != nullptr)
      return error(
          entry.place,
          fmt::format("'{}' is a key of an environment file, but this is a conda file; in an "
                      "environment file, put channels and dependencies under 'conda_file'",
                      shown(entry.key)));
    const std::string near = nearest(entry.key, kKeys);
    return error(entry.place,
                 fmt::format("unknown key '{}'{}", shown(entry.key),
                             near.empty() ? "" : fmt::format("; did you mean '{}'?", shown(near))));
  }

  // Reads a list of texts; nullptr: missing.
  Result<const YamlNode*> list(std::string_view key, std::string_view example) const {
    const YamlNode* node = at(key);
    if (node == nullptr || node->kind == YamlNode::Kind::sequence) return node;
    return error(node->place, fmt::format("'{}' must be a list, not {}; write {}", shown(key),
                                          describe(node->kind), example));
  }

  Status check_text_in(const YamlNode& item, std::string_view key) const {
    if (item.text.size() > kMaxEnvironmentLineBytes)
      return error(item.place, fmt::format("'{}': this item has {} bytes; at most {} are allowed",
                                           shown(key), item.text.size(), kMaxEnvironmentLineBytes));
    if (item.kind == YamlNode::Kind::scalar && !item.text.empty()) return {};
    return error(item.place,
                 fmt::format("'{}' must be a list of strings; this item is {}", shown(key),
                             item.text.empty() && item.kind == YamlNode::Kind::scalar
                                 ? "an empty string"
                                 : describe(item.kind)));
  }

  Status read_name() {
    const YamlNode* name = at("name");
    if (name == nullptr) return {};
    if (name->kind != YamlNode::Kind::scalar)
      return error(name->place, fmt::format("'{}' must be a string, not {}", shown("name"),
                                            describe(name->kind)));
    file_.name = name->text;
    if (name->text.empty()) return {};
    const Status valid = validate_environment_name(shown("name"), name->text);
    return valid ? Status() : error(name->place, valid.error().message);
  }

  Status read_channels() {
    TRY_ASSIGN(const YamlNode* channels, list("channels", "[conda-forge]"));
    bool has_none = channels == nullptr;
    if (has_none) add_defaults();
    for (std::size_t i = 0; channels != nullptr && i < channels->items.size(); ++i) {
      const YamlNode& item = channels->items[i];
      TRY(check_text_in(item, "channels"));
      if (item.text == "nodefaults") continue;  // only named channels are used anyway
      if (item.text == "defaults") {
        add_defaults();
      } else if (const Status added = add_channel(item.text); !added) {
        return error(item.place, fmt::format("'{}': {}", shown("channels"), added.error().message),
                     added.error().code);
      }
    }
    if (!file_.environment.channels.empty()) return {};
    return error(mapping_.find("channels")->place,
                 fmt::format("'{}' names no channel; write [conda-forge], or leave it out for "
                             "conda's defaults",
                             shown("channels")));
  }

  void add_defaults() {
    for (std::string_view channel : kDefaults) append(std::string(channel));
  }

  // Adds a channel; one that is named twice keeps its first place.
  void append(std::string channel) {
    auto& channels = file_.environment.channels;
    if (std::find(channels.begin(), channels.end(), channel) == channels.end())
      channels.push_back(std::move(channel));
  }

  Status add_channel(std::string channel) {
    TRY(check_no_secret(channel, kNoPasswordOfConda));
    TRY(check_no_query(channel));
    if (channel == "local" || channel.starts_with('.') || channel.starts_with('~'))
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("'{}' is a folder of this machine, which may not exist on the nodes; write "
                      "file:///PATH of a folder that exists on all nodes, or an address",
                      channel));
    if (channel.starts_with('/')) channel.insert(0, "file://");
    TRY(check_channel(channel));
    if (channel.find_first_of(",'\"$") != std::string::npos)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("'{}' is not the name or address of a channel", channel));
    while (channel.ends_with('/')) channel.pop_back();
    append(std::move(channel));
    return {};
  }

  Status read_priority() {
    const YamlNode* priority = at("channel_priority");
    if (priority == nullptr) return {};
    const std::string key = shown("channel_priority");
    if (priority->text == "flexible")
      return error(
          priority->place,
          fmt::format(
              "'{}': 'flexible' is not supported; write strict (take a package from the first "
              "channel that has it) or disabled (take its newest version from any channel)",
              key),
          ErrorCode::unsupported);
    if (priority->text != "strict" && priority->text != "disabled")
      return error(priority->place, fmt::format("'{}' must be strict or disabled", key));
    file_.environment.strict_priority = priority->text == "strict";
    return {};
  }

  // The platforms for which conda-lock would solve. Nodes solve for their own platform, so one of
  // Linux must be listed.
  Status read_platforms() {
    TRY_ASSIGN(const YamlNode* platforms, list("platforms", "[linux-64]"));
    if (platforms == nullptr) return {};
    const auto any = [&](auto holds) {
      return std::any_of(platforms->items.begin(), platforms->items.end(), holds);
    };
    if (any([](const YamlNode& item) { return item.text == kUsualPlatform; })) return {};
    if (any([](const YamlNode& item) { return item.text.starts_with("linux-"); })) {
      notes_.push_back(
          fmt::format("{}: '{}' does not select nodes: each node solves for its own platform, also "
                      "for {}, which is not listed",
                      source_.where(platforms->place), shown("platforms"), kUsualPlatform));
      return {};
    }
    return error(platforms->place,
                 fmt::format("'{}' must contain linux-64 or linux-aarch64, the platforms of nodes",
                             shown("platforms")),
                 ErrorCode::unsupported);
  }

  Status read_dependencies() {
    TRY_ASSIGN(const YamlNode* dependencies, list("dependencies", "[python=3.11, numpy]"));
    const YamlNode* pip = nullptr;
    for (std::size_t i = 0; dependencies != nullptr && i < dependencies->items.size(); ++i) {
      const YamlNode& item = dependencies->items[i];
      if (item.kind == YamlNode::Kind::mapping) {
        TRY_ASSIGN(pip, pip_section(item, pip));
        continue;
      }
      TRY(check_text_in(item, "dependencies"));
      if (const Status good = check_match_spec(item.text); !good)
        return error(item.place, good.error().message);
      file_.environment.dependencies.push_back(item.text);
    }
    if (pip != nullptr) TRY(read_pip(*pip));
    if (!file_.environment.dependencies.empty()) return {};
    const YamlEntry* entry = mapping_.find("dependencies");
    return error(
        entry == nullptr ? mapping_.place : entry->place,
        fmt::format("'{}' names no package{}", shown("dependencies"),
                    pip == nullptr ? "; write [python=3.11, numpy]"
                                   : "; pip needs a Python: write python=3.11 before 'pip'"));
  }

  // The item "- pip: [a, b]" among the dependencies.
  Result<const YamlNode*> pip_section(const YamlNode& item, const YamlNode* before) const {
    const YamlEntry& entry = item.entries.empty() ? YamlEntry{} : item.entries.front();
    if (item.entries.size() != 1 || entry.key != "pip") {
      const bool is_spec = item.entries.size() == 1 && entry.value.kind == YamlNode::Kind::scalar;
      return error(item.place,
                   fmt::format("'{}' must contain strings and at most one section 'pip'; {}",
                               shown("dependencies"),
                               is_spec ? fmt::format("write {}={}", entry.key, entry.value.text)
                                       : "this item is another mapping"));
    }
    if (before != nullptr)
      return error(item.place,
                   "this is a second section 'pip'; put all of pip's packages into one section");
    const YamlNode& value = item.entries.front().value;
    if (value.kind == YamlNode::Kind::sequence || value.kind == YamlNode::Kind::null) return &value;
    return error(value.place, fmt::format("'{}.pip' must be a list, not {}; write [six==1.16.0]",
                                          shown("dependencies"), describe(value.kind)));
  }

  Status read_pip(const YamlNode& section) {
    VenvEnvironment venv;
    Faults faults;
    for (const YamlNode& item : section.items) {
      TRY(check_text_in(item, "dependencies.pip"));
      bool opened = false;
      const ReadText noticing = [&](const std::string& path) {
        auto text = read_text_(path);
        opened = opened || text;
        return text;
      };
      const Status added = add_entry(item.text, source_.name, noticing, venv);
      // Errors in a file that is named here already have that file's place.
      if (!added && opened) return added;
      if (!added)
        faults.add(item.place, error(item.place, added.error().message, added.error().code));
    }
    TRY(faults.status());
    file_.environment.options = std::move(venv.options);
    file_.environment.requirements = std::move(venv.requirements);
    file_.environment.constraints = std::move(venv.constraints);
    return {};
  }

  Status read_variables() {
    const YamlNode* variables = at("variables");
    if (variables == nullptr) return {};
    const std::string key = shown("variables");
    if (variables->kind != YamlNode::Kind::mapping)
      return error(variables->place,
                   fmt::format("'{}' must be a mapping of names to values, not {}", key,
                               describe(variables->kind)));
    for (const YamlEntry& entry : variables->entries) {
      if (entry.key.empty() || entry.key.find_first_of("= \t\n") != std::string::npos)
        return error(entry.place, fmt::format("'{}' is not a variable's name", entry.key));
      if (entry.value.kind == YamlNode::Kind::null)
        return error(entry.place, fmt::format("'{}.{}' has no value; write \"\" for an empty one",
                                              key, entry.key));
      if (entry.value.kind != YamlNode::Kind::scalar)
        return error(entry.value.place, fmt::format("'{}.{}' must be a string, not {}", key,
                                                    entry.key, describe(entry.value.kind)));
      file_.environment.variables[entry.key] = entry.value.text;
      const std::string note =
          unreplaced_note(shown("variables") + "." + entry.key, entry.key, entry.value.text);
      if (!note.empty())
        notes_.push_back(fmt::format("{}: {}", source_.where(entry.value.place), note));
    }
    return {};
  }

  // Checks the whole definition. Errors of the domain's checks begin with "environment.KEY: "; the
  // key's place is looked up.
  Status validate_whole() const {
    const Status valid = validate(EnvironmentSpec{"", "", file_.environment});
    if (valid) return {};
    constexpr std::string_view kPrefix = "environment.";
    std::string message = valid.error().message;
    if (message.starts_with(kPrefix)) message.erase(0, kPrefix.size());
    const YamlNode* node = at(message.substr(0, message.find(':')));
    if (node == nullptr) node = at("dependencies");
    return error(node->place, section_ + message, valid.error().code);
  }

  const Source& source_;
  const YamlNode& mapping_;
  const std::string& section_;
  const ReadText read_text_;
  Notes& notes_;
  CondaFile file_;
};

}  // namespace

bool is_conda(const YamlNode& root) {
  return root.find("channels") != nullptr || root.find("dependencies") != nullptr ||
         is_conda_lock(root);
}

Result<CondaFile> read_conda(const Source& source, const YamlNode& mapping,
                             const std::string& section, const ReadText& read_text, Notes& notes) {
  TRY(refuse_pixi_lock(source, mapping));
  if (!is_conda_lock(mapping))
    return CondaReader(source, mapping, section, read_text, notes).read();
  TRY_ASSIGN(CondaEnvironment locked, read_conda_lock(source, mapping, section, notes));
  return CondaFile{"", std::move(locked)};
}

Result<CondaFile> load_conda(const std::string& path, const ReadText& read_text, Notes& notes) {
  TRY_ASSIGN(const std::string text, read_text(path));
  const Source source{path,           without_mark(text), "a conda file", "'dependencies'",
                      kMaxCondaBytes, kMaxCondaNodes};
  if (is_explicit_lock(source.text)) {
    TRY_ASSIGN(CondaEnvironment locked, read_explicit_lock(source));
    return CondaFile{"", std::move(locked)};
  }
  TRY_ASSIGN(const YamlNode root, parse_yaml(source));
  return read_conda(source, root, "", read_text, notes);
}

}  // namespace lockstep::spec
