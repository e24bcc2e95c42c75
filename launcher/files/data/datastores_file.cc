#include "launcher/files/data/datastores_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "common/base/nearest.h"
#include "common/base/quoted_name.h"
#include "common/domain/people/access.h"
#include "common/io/file_system.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/operators_file.h"
#include "launcher/files/yaml/parsed.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {
namespace {

using Kind = YamlNode::Kind;

constexpr std::array<std::string_view, 6> kKeysOfStores = {"directory", "rclone", "config",
                                                           "read_only", "users",  "projects"};

// The name of a section in rclone's file, not a connection string (":sftp,host=…:",
// "remote,host=…:").
bool is_remote_name(std::string_view name) {
  return !name.empty() && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
         });
}

class StoreReader {
 public:
  StoreReader(const Source& source, const YamlEntry& entry, Faults& faults)
      : source_(source), entry_(entry), faults_(faults) {}

  Datastore read() {
    Datastore store;
    store.view.name = entry_.key;
    if (!valid_datastore_name(entry_.key))
      fault(entry_.place,
            quoted_name(entry_.key) + " is not a datastore's name: " + datastore_name_form());
    if (entry_.value.kind != Kind::mapping) {
      fault(entry_.place, fmt::format("'{}' must be a mapping with 'directory' or 'rclone', not {}",
                                      entry_.key, describe(entry_.value.kind)));
      return store;
    }
    check_keys();
    read_storage(store);
    store.view.read_only = flag("read_only");
    store.view.users = names("users", validate_known_user_name);
    store.view.projects = names("projects", validate_project_name);
    return store;
  }

 private:
  void fault(const Place& place, const std::string& message) {
    faults_.add(place, source_.error(place, message));
  }
  std::string shown(std::string_view key) const { return fmt::format("{}.{}", entry_.key, key); }
  const YamlNode* at(std::string_view key) const {
    const YamlEntry* found = entry_.value.find(key);
    return found == nullptr ? nullptr : &found->value;
  }

  void check_keys() {
    for (const YamlEntry& entry : entry_.value.entries) {
      if (std::find(kKeysOfStores.begin(), kKeysOfStores.end(), entry.key) != kKeysOfStores.end())
        continue;
      const std::string near = nearest(entry.key, kKeysOfStores);
      fault(entry.place,
            fmt::format("unknown key '{}'; {}", shown(entry.key),
                        near.empty() ? fmt::format("there are {}", fmt::join(kKeysOfStores, ", "))
                                     : fmt::format("did you mean '{}'?", near)));
    }
  }
  std::string text(std::string_view key) {
    const YamlNode* node = at(key);
    if (node == nullptr) return "";
    if (node->kind == Kind::scalar && !node->text.empty()) return node->text;
    fault(node->place, fmt::format("'{}' must be a text, not {}", shown(key),
                                   node->kind == Kind::scalar ? "nothing" : describe(node->kind)));
    return "";
  }
  bool flag(std::string_view key) {
    const YamlNode* node = at(key);
    if (node == nullptr) return false;
    if (node->kind == Kind::scalar && node->text == "true") return true;
    if (node->kind != Kind::scalar || node->text != "false")
      fault(node->place, fmt::format("'{}' must be true or false", shown(key)));
    return false;
  }
  std::vector<std::string> names(std::string_view key, Status (*check)(const std::string&)) {
    const YamlNode* node = at(key);
    if (node == nullptr) return {};
    // An empty list would read as nobody, but mean everybody.
    if (node->kind != Kind::sequence || node->items.empty() ||
        node->items.size() > kMaxDatastoreUsers) {
      fault(node->place,
            fmt::format("'{}' must be a list of 1 to {} names", shown(key), kMaxDatastoreUsers));
      return {};
    }
    std::vector<std::string> found;
    for (const YamlNode& item : node->items) {
      const Status good = check(item.text);
      if (item.kind != Kind::scalar || !good)
        fault(item.place,
              fmt::format("'{}': {}", shown(key),
                          item.kind != Kind::scalar ? "must be names" : good.error().message));
      else
        found.push_back(item.text);
    }
    return found;
  }

  void read_storage(Datastore& store) {
    const bool is_directory = at("directory") != nullptr, is_remote = at("rclone") != nullptr;
    if (is_directory == is_remote)
      return fault(entry_.place,
                   fmt::format("'{}' must have one of 'directory' and 'rclone'", entry_.key));
    if (is_directory) return read_directory(store);
    store.view.kind = DatastoreKind::rclone;
    read_remote(store);
    read_config(store);
  }
  void read_directory(Datastore& store) {
    std::string path = text("directory");
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (at("config") != nullptr)
      fault(at("config")->place, fmt::format("'{}' is for rclone", shown("config")));
    store.view.directory = path;
    if (path.empty()) return;
    const Status good = validate(DatastorePath{"store", path, ""});
    if (!path.starts_with('/') || !good)
      fault(at("directory")->place,
            fmt::format("'{}': {} is not an absolute path", shown("directory"), quoted_name(path)));
  }
  void read_remote(Datastore& store) {
    std::string remote = text("rclone");
    if (remote.empty()) return;
    while (remote.ends_with('/')) remote.pop_back();
    const auto colon = remote.find(':');
    const bool has_control = std::any_of(remote.begin(), remote.end(),
                                         [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (colon == std::string::npos || !is_remote_name(remote.substr(0, colon)) || has_control ||
        remote.size() > kMaxDatastorePathBytes)
      fault(at("rclone")->place,
            fmt::format("'{}': {} is not REMOTE:PATH, where REMOTE is a section of 'config'",
                        shown("rclone"), quoted_name(remote)));
    store.view.remote = std::move(remote);
  }
  void read_config(Datastore& store) {
    if (at("config") == nullptr)
      return fault(
          entry_.place,
          fmt::format("'{}' needs rclone's configuration file: write 'config: FILE'", entry_.key));
    const std::string file = text("config");
    if (!file.empty())
      store.config =
          (std::filesystem::path(source_.name).parent_path() / file).lexically_normal().string();
  }

  const Source& source_;
  const YamlEntry& entry_;
  Faults& faults_;
};

bool is_default(const YamlEntry& entry) {
  return entry.key == "default" && entry.value.kind == Kind::scalar;
}

void set_default(const Source& source, const YamlNode& name, std::vector<Datastore>& stores,
                 Faults& faults) {
  std::vector<std::string_view> names;
  for (Datastore& store : stores) {
    store.is_default = store.view.name == name.text;
    if (store.is_default) return;
    names.push_back(store.view.name);
  }
  const std::string near = nearest(name.text, names);
  faults.add(
      name.place,
      source.error(name.place,
                   fmt::format("'default': the file has no datastore {}{}", quoted_name(name.text),
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near))));
}

// Whether a file has no entries; one with only comments counts as empty.
bool has_no_entries(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
  }
  return true;
}

}  // namespace

Result<std::vector<Datastore>> read_datastores(const std::string& name, std::string_view text) {
  const Source source{name, without_mark(text), "a file of datastores", "one datastore"};
  std::vector<Datastore> stores;
  if (has_no_entries(source.text)) return stores;
  TRY_ASSIGN(const YamlNode root, parse_yaml(source));
  Faults faults;
  for (const YamlEntry& entry : root.entries)
    if (!is_default(entry)) stores.push_back(StoreReader(source, entry, faults).read());
  for (const YamlEntry& entry : root.entries)
    if (is_default(entry)) set_default(source, entry.value, stores, faults);
  if (stores.size() > kMaxDatastores)
    faults.add(root.place, source.error(root.place, fmt::format("has more than {} datastores",
                                                                kMaxDatastores)));
  TRY(faults.status());
  std::sort(stores.begin(), stores.end(),
            [](const Datastore& a, const Datastore& b) { return a.view.name < b.view.name; });
  return stores;
}

Result<std::vector<Datastore>> load_datastores(const std::string& path) {
  // The file's rights are checked, since root mounts the paths that it names.
  TRY_ASSIGN(const std::optional<std::string> text,
             read_operators_file(path, Bytes{kMaxFileBytes}));
  return text ? read_datastores(path, *text) : std::vector<Datastore>();
}

Result<std::vector<Datastore>> with_workspace_datastores(std::vector<Datastore> stores,
                                                         const std::string& folder) {
  const auto named = [&](std::string_view name) {
    return std::find_if(stores.begin(), stores.end(),
                        [&](const Datastore& store) { return store.view.name == name; });
  };
  for (const std::string_view name : kWorkspaceDatastores) {
    if (named(name) != stores.end()) continue;
    Datastore store;
    store.view.name = name;
    store.view.directory = fmt::format("{}/{}", folder, name);
    TRY(io::make_directories(store.view.directory, 0700));
    stores.push_back(std::move(store));
  }
  if (std::none_of(stores.begin(), stores.end(),
                   [](const auto& store) { return store.is_default; }))
    named(kWorkspaceDatastores.front())->is_default = true;
  std::sort(stores.begin(), stores.end(),
            [](const Datastore& a, const Datastore& b) { return a.view.name < b.view.name; });
  return stores;
}

}  // namespace lockstep::spec
