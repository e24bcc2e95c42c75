#include "launcher/compute/ssh/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "launcher/compute/contract.h"

namespace lockstep::compute::ssh {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxUserBytes = 64;
constexpr std::size_t kMaxPathBytes = 1'024;
constexpr std::size_t kMaxPasswordBytes = 1'024;

Error bad(const std::string& where, const std::string& why) {
  return make_error(ErrorCode::invalid_argument, where + " " + why);
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_of(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_word(c) || others.find(c) != std::string_view::npos;
  });
}

Status check_user(const std::string& where, const std::string& user) {
  if (user.empty()) return {};
  if (user.size() <= kMaxUserBytes && user[0] != '-' && is_of(user, "-.@\\")) return {};
  return bad(where, "'" + user + "' is not a valid account name");
}

// Of the remote machine: it is a part of commands there.
Status check_directory(const std::string& where, const std::string& path) {
  if (path.empty()) return {};
  const bool good = path.size() <= kMaxPathBytes && path.size() > 1 && path[0] == '/' &&
                    path.back() != '/' && is_of(path, "/.-+") &&
                    path.find("/../") == std::string::npos && !path.ends_with("/..") &&
                    path.find("//") == std::string::npos;
  if (good) return {};
  return bad(where,
             "'" + path + "' is not an absolute path made only of letters, digits and / . _ - +");
}

// Of the launcher's machine: ssh reads it, and expands % and ~ in it.
Status check_key(const std::string& where, const std::string& path) {
  if (path.empty()) return {};
  const bool good =
      path.size() <= kMaxPathBytes && (path[0] == '/' || path[0] == '~') &&
      path.find('%') == std::string::npos &&
      std::none_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20 || c == '"'; });
  if (good) return {};
  return bad(where, "'" + path + "' is not an absolute path without % and quotes");
}

Result<std::string> text_of(const json& object, const std::string& where, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) return std::string();
  if (!it->is_string()) return bad(where + "." + key, "is not a string");
  return it->get<std::string>();
}

Result<Host> host_from(const json& object, const std::string& where) {
  if (!object.is_object()) return bad(where, "is not an object");
  for (const auto& [key, value] : object.items()) {
    static const std::set<std::string> kKnown{"name", "address",  "user",     "port",
                                              "key",  "password", "directory"};
    if (kKnown.count(key) == 0) return bad(where, "has the unknown key '" + key + "'");
  }
  Host host;
  TRY_ASSIGN(host.address, text_of(object, where, "address"));
  if (host.address.empty()) return bad(where, "has no address");
  TRY(check_machine_name(host.address));
  TRY_ASSIGN(host.name, text_of(object, where, "name"));
  if (host.name.empty()) host.name = host.address;
  TRY(check_machine_name(host.name));
  TRY_ASSIGN(host.user, text_of(object, where, "user"));
  TRY(check_user(where + ".user", host.user));
  TRY_ASSIGN(host.key, text_of(object, where, "key"));
  TRY(check_key(where + ".key", host.key));
  TRY_ASSIGN(host.password, text_of(object, where, "password"));
  if (host.password.size() > kMaxPasswordBytes ||
      host.password.find_first_of(std::string_view("\n\0", 2)) != std::string::npos)
    return bad(where + ".password", "is too long, or contains a line break or NUL byte");
  TRY_ASSIGN(host.directory, text_of(object, where, "directory"));
  TRY(check_directory(where + ".directory", host.directory));
  if (const auto port = object.find("port"); port != object.end()) {
    if (!port->is_number_integer() || *port < 1 || *port > 65'535)
      return bad(where + ".port", "is not a number from 1 to 65535");
    host.port = port->get<int>();
  }
  return host;
}

}  // namespace

Result<std::vector<Host>> hosts_from(const std::string& settings_json) {
  const json settings = json::parse(settings_json, nullptr, false);
  const auto list = settings.is_object() ? settings.find("hosts") : settings.end();
  if (!settings.is_object() || list == settings.end() || !list->is_array() || list->empty())
    return bad("settings.hosts", "is not a list of at least one host");
  if (list->size() > kMaxMachines)
    return bad("settings.hosts", fmt::format("has more than {} hosts", kMaxMachines));
  std::vector<Host> hosts;
  std::set<std::string> names;
  for (std::size_t i = 0; i < list->size(); ++i) {
    TRY_ASSIGN(Host host, host_from((*list)[i], fmt::format("settings.hosts[{}]", i)));
    if (!names.insert(host.name).second)
      return bad("settings.hosts", "names " + host.name + " twice");
    hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace lockstep::compute::ssh
