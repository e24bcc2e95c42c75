#include "launcher/files/targets/hosts_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <span>

#include "common/base/nearest.h"
#include "common/domain/people/secrets.h"
#include "common/domain/targets/provider_settings.h"
#include "launcher/files/targets/ssh_host.h"

namespace lockstep::spec {
namespace {

using Kind = YamlNode::Kind;

constexpr std::string_view kHosts = "lockstep.hosts";
constexpr std::string_view kDefaults = "lockstep.ssh";
constexpr std::string_view kAzure = "ssh_settings";
constexpr std::string_view kHowToNameHosts =
    "write the machine's address below `lockstep.hosts`, as in lockstep: {hosts: "
    "[azureuser@20.1.2.3]}";

// A key of a mapping and the field that it sets; a key without a field sets the port.
struct Key {
  std::string_view word;
  std::string SshHost::*field;
};
constexpr std::array<Key, 8> kKeysOfHosts{{{"name", &SshHost::name},
                                           {"address", &SshHost::address},
                                           {"user", &SshHost::user},
                                           {"port", nullptr},
                                           {"key", &SshHost::key},
                                           {"password_secret", &SshHost::password_secret},
                                           {"jump", &SshHost::jump},
                                           {"directory", &SshHost::directory}}};
// The keys of defaults: all but name and address.
constexpr std::span<const Key> kKeysOfDefaults = std::span(kKeysOfHosts).subspan(2);
constexpr std::array<Key, 3> kKeysOfAzure{{{"admin_username", &SshHost::user},
                                           {"ssh_port", nullptr},
                                           {"ssh_private_key_file", &SshHost::key}}};

// Finds a key; nullptr: missing, or null.
const YamlEntry* at(const YamlNode& mapping, std::string_view key) {
  const YamlEntry* entry = mapping.find(key);
  return entry == nullptr || entry->value.kind == Kind::null ? nullptr : entry;
}
const YamlEntry* ours(const YamlNode& root, std::string_view key) {
  const YamlEntry* section = at(root, "lockstep");
  return section == nullptr ? nullptr : at(section->value, key);
}

class HostsReader {
 public:
  HostsReader(const Source& source, Faults& faults) : source_(source), faults_(faults) {}

  void read(const YamlNode& root, ComputeSpec& spec) {
    if (const YamlEntry* azure = at(root, kAzure))
      read_section(azure->value, kAzure, kKeysOfAzure, azure_);
    if (const YamlEntry* defaults = ours(root, "ssh"))
      read_section(defaults->value, kDefaults, kKeysOfDefaults, defaults_);
    if (const YamlEntry* tunnel = ours(root, "tunnel")) read_tunnel(tunnel->value, spec);
    if (const YamlEntry* share = ours(root, "share")) read_share(share->value, spec);
    const YamlEntry* hosts = ours(root, "hosts");
    if (hosts != nullptr) return read_list(hosts->value, spec);
    if (const YamlEntry* resource = at(root, "resource_id"))
      fault(resource->place, fmt::format("'resource_id' names a machine of Azure, whose address "
                                         "Lockstep cannot look up; {}",
                                         kHowToNameHosts));
    else if (const YamlEntry* azure = at(root, kAzure))
      fault(azure->place, fmt::format("'{}' says how to log in, and no host is named; {}", kAzure,
                                      kHowToNameHosts));
  }

 private:
  void fault(const Place& place, std::string_view message) {
    faults_.add(place, source_.error(place, message));
  }

  void read_tunnel(const YamlNode& value, ComputeSpec& spec) {
    const auto use = value.kind == Kind::scalar && !value.text.empty() ? tunnel_use_from(value.text)
                                                                       : std::nullopt;
    if (use)
      spec.tunnel = *use;
    else
      fault(value.place,
            fmt::format("'lockstep.tunnel' must be auto, always or never, not {}",
                        value.kind == Kind::scalar ? "'" + value.text + "'"
                                                   : std::string(describe(value.kind))));
  }

  void read_share(const YamlNode& value, ComputeSpec& spec) {
    if (value.kind == Kind::scalar && !value.text.empty() && is_machine_share(value.text))
      spec.settings["share"] = {value.text};
    else
      fault(value.place, "'lockstep.share' must be a part of a machine, as in 1/2");
  }

  void read_list(const YamlNode& list, ComputeSpec& spec) {
    if (list.kind != Kind::sequence)
      return fault(list.place, fmt::format("'{}' must be a list of hosts, as in [vm1, "
                                           "ann@vm2:2222], not {}",
                                           kHosts, describe(list.kind)));
    if (list.items.size() > kMaxHosts)
      return fault(list.place, fmt::format("'{}' has {} hosts; the most allowed are {}", kHosts,
                                           list.items.size(), kMaxHosts));
    for (const YamlNode& item : list.items) read_host(item, spec);
  }

  void read_host(const YamlNode& item, ComputeSpec& spec) {
    SshHost host;
    switch (item.kind) {
      case Kind::scalar: {
        auto parsed = parse_host(item.text);
        if (!parsed)
          return fault(item.place, fmt::format("'{}': {}", kHosts, parsed.error().message));
        host = std::move(*parsed);
        break;
      }
      case Kind::mapping:
        if (!read_section(item, kHosts, kKeysOfHosts, host)) return;
        if (host.address.empty())
          return fault(item.place, fmt::format("'{}': a host needs an 'address'", kHosts));
        if (host.name.empty()) host.name = default_host_name(host.address);
        break;
      case Kind::null:
      case Kind::sequence:
        return fault(item.place, fmt::format("'{}': a host is [USER@]ADDRESS[:PORT] or a mapping "
                                             "with 'address', not {}; an IPv6 address stands in "
                                             "quotes and brackets: '[fe80::1]:22'",
                                             kHosts, describe(item.kind)));
    }
    fill_in(host, defaults_);
    fill_in(host, azure_);
    if (is_new(item, host)) spec.hosts.push_back(std::move(host));
  }

  // Whether the host is new. The name is used for the machine and its node. One account on one sshd
  // has one home, where two agents of a target would use the same folder.
  bool is_new(const YamlNode& item, const SshHost& host) {
    const auto [named, is_new_name] = names_.emplace(host.name, &item);
    if (!is_new_name) {
      fault(item.place, fmt::format("'{}': host '{}' is also at {}; leave one of them out, or give "
                                    "it another 'name'",
                                    kHosts, host.name, source_.where(named->second->place)));
      return false;
    }
    const std::string home =
        fmt::format("{}@[{}]:{} {}", host.user, host.address, host.port, host.directory);
    const auto [first, is_new_home] = homes_.emplace(home, &item);
    if (!is_new_home)
      fault(item.place, fmt::format("'{}': '{}' is the same account of the same machine as at {}; "
                                    "leave one of them out, or give it another 'directory'",
                                    kHosts, host.name, source_.where(first->second->place)));
    return is_new_home;
  }

  // Reads a section. False: it has errors.
  bool read_section(const YamlNode& mapping, std::string_view section, std::span<const Key> keys,
                    SshHost& into) {
    if (mapping.kind != Kind::mapping) {
      fault(mapping.place, fmt::format("'{}' must be a mapping of keys to values, not {}", section,
                                       describe(mapping.kind)));
      return false;
    }
    bool is_good = true;
    for (const YamlEntry& entry : mapping.entries)
      is_good = read_entry(entry, section, keys, into) && is_good;
    if (into.key.empty() || into.password_secret.empty()) return is_good;
    fault(mapping.place, fmt::format("'{}' has both 'key' and 'password_secret'; ssh logs in with "
                                     "one of them, so leave one out",
                                     section));
    return false;
  }

  bool read_entry(const YamlEntry& entry, std::string_view section, std::span<const Key> keys,
                  SshHost& into) {
    const std::string path = fmt::format("'{}.{}'", section, entry.key);
    const YamlNode& value = entry.value;
    if (value.kind == Kind::null) return true;
    if (entry.key == "admin_password" || entry.key == "password") {
      fault(entry.place,
            fmt::format("{}: passwords are not read from files; store it with `lockstep "
                        "secret set NAME` and write `lockstep.ssh.password_secret: NAME`",
                        path));
      return false;
    }
    const auto known = std::find_if(keys.begin(), keys.end(),
                                    [&](const Key& key) { return key.word == entry.key; });
    if (known == keys.end()) return unknown(entry, section, keys);
    if (value.kind != Kind::scalar) {
      fault(value.place,
            fmt::format("{} must be a {}, not {}", path,
                        known->field == nullptr ? "number" : "string", describe(value.kind)));
      return false;
    }
    const std::string wrong =
        known->field == nullptr ? take_port(value.text, into) : take(value, known->field, into);
    if (wrong.empty()) return true;
    fault(value.place, fmt::format("{}: {}", path, wrong));
    return false;
  }

  bool unknown(const YamlEntry& entry, std::string_view section, std::span<const Key> keys) {
    std::vector<std::string_view> words;
    for (const Key& key : keys) words.push_back(key.word);
    const std::string near = nearest(entry.key, words);
    fault(entry.place,
          fmt::format("unknown key '{}.{}'; {}", section, entry.key,
                      near.empty() ? fmt::format("there are {}", fmt::join(words, ", "))
                                   : fmt::format("did you mean '{}.{}'?", section, near)));
    return false;
  }

  // Sets the port; returns the fault of the value, or "".
  static std::string take_port(const std::string& text, SshHost& into) {
    const auto port = parse_port(text);
    if (!port) return fmt::format("'{}' is not a port from 1 to 65535", text);
    into.port = *port;
    return "";
  }

  std::string take(const YamlNode& value, std::string SshHost::*field, SshHost& into) const {
    std::string text = value.text;
    if (text.empty()) return "";
    if (field == &SshHost::address) {
      if (std::string wrong = take_address(text); !wrong.empty()) return wrong;
    } else if (field == &SshHost::key) {
      const bool is_in_file = !value.place.override_text.has_value();
      text = absolute_key(text, is_in_file ? folder() : "");
    } else if (field == &SshHost::password_secret) {
      if (const Status good = validate_secret_name(text); !good) return good.error().message;
    } else if (field == &SshHost::name && is_host_name_of_digits(text)) {
      return fmt::format("'{}' is a number, and nodes have numbers of their own", text);
    }
    SshHost only;
    only.*field = text;
    std::string wrong = fault_of_field(only);
    if (wrong.empty()) into.*field = text;
    return wrong;
  }

  // Removes the brackets of an IPv6 address.
  static std::string take_address(std::string& text) {
    if (text.find('@') != std::string::npos)
      return fmt::format("'{}' has an account; write it below 'user'", text);
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    if (text.find(']') != std::string::npos || std::count(text.begin(), text.end(), ':') == 1)
      return fmt::format("'{}' has a port; write it below 'port'", text);
    return "";
  }

  std::string folder() const { return std::filesystem::path(source_.name).parent_path().string(); }

  const Source& source_;
  Faults& faults_;
  SshHost azure_, defaults_;
  std::map<std::string, const YamlNode*> names_, homes_;
};

}  // namespace

bool names_hosts(const YamlNode& root) {
  return ours(root, "hosts") != nullptr || at(root, kAzure) != nullptr ||
         at(root, "resource_id") != nullptr;
}

void read_hosts(const Source& source, const YamlNode& root, ComputeSpec& spec, Faults& faults) {
  HostsReader(source, faults).read(root, spec);
}

void refuse_hosts(const Source& source, const YamlNode& root, const ComputeSpec& spec,
                  Faults& faults) {
  const auto refuse = [&](const YamlEntry* entry, const std::string& path) {
    if (entry == nullptr) return;
    faults.add(
        entry->place,
        source.error(entry->place,
                     fmt::format("'{}' is of a virtualmachine whose node source is ssh; leave "
                                 "it out here",
                                 path)));
  };
  for (const char* key : {"hosts", "ssh", "tunnel", "share"})
    refuse(ours(root, key), fmt::format("lockstep.{}", key));
  refuse(at(root, kAzure), std::string(kAzure));
  // Azure's files of Kubernetes clusters have it, too; here kubectl finds the cluster.
  if (spec.type != ComputeType::kubernetes) refuse(at(root, "resource_id"), "resource_id");
}

}  // namespace lockstep::spec
