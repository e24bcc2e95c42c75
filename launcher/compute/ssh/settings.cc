#include "launcher/compute/ssh/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "common/domain/targets/provider_settings.h"
#include "launcher/compute/contract.h"
#include "launcher/compute/machine_name.h"
#include "launcher/compute/settings_object.h"

namespace lockstep::compute::ssh {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxUserBytes = 64;
constexpr std::size_t kMaxPathBytes = 1'024;
constexpr std::size_t kMaxPasswordBytes = 1'024;

Error bad(const std::string& where, const std::string& why) {
  return make_error(ErrorCode::invalid_argument, where + " " + why);
}

Status check_user(const std::string& where, const std::string& user) {
  if (user.empty()) return {};
  if (user.size() <= kMaxUserBytes && user[0] != '-' && is_made_of(user, "-.@\\")) return {};
  return bad(where, fmt::format("'{}' is not a valid account name: at most {} letters, digits and "
                                ". _ - @ \\, not beginning with '-'",
                                user, kMaxUserBytes));
}

// Checks a path on the remote machine. It becomes a part of commands there.
Status check_directory(const std::string& where, const std::string& path) {
  if (path.empty()) return {};
  const bool good = path.size() <= kMaxPathBytes && path.size() > 1 && path[0] == '/' &&
                    path.back() != '/' && is_made_of(path, "/.-+") &&
                    path.find("/../") == std::string::npos && !path.ends_with("/..") &&
                    path.find("//") == std::string::npos;
  if (good) return {};
  return bad(where,
             fmt::format("'{}' is not an absolute path made only of letters, digits and / . _ "
                         "- +, without '..', '//' and a '/' at its end, of at most {} bytes",
                         path, kMaxPathBytes));
}

// Checks a path on the launcher's machine. ssh reads the file, and expands % and ~ in the path.
Status check_key(const std::string& where, const std::string& path) {
  if (path.empty()) return {};
  const bool good =
      path.size() <= kMaxPathBytes && (path[0] == '/' || path[0] == '~') &&
      path.find('%') == std::string::npos &&
      std::none_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20 || c == '"'; });
  if (good) return {};
  return bad(where, fmt::format("'{}' is not a path that begins with / or ~, without %, quotation "
                                "marks and control characters, of at most {} bytes",
                                path, kMaxPathBytes));
}

// Reads the jump host. `otherwise` is used if the key is missing; "none" means no jump host.
Result<Jump> jump_of(const SettingsObject& object, const std::string& where,
                     const Jump& otherwise) {
  TRY_ASSIGN(const std::string text, object.text("jump"));
  if (text.empty()) return otherwise;
  if (text == "none") return Jump{};
  return jump_from(where + ".jump", text);
}

Result<Host> host_from(const json& entry, const std::string& where, const Jump& jump) {
  TRY_ASSIGN(const auto object, SettingsObject::open(entry, where,
                                                     {"name", "address", "user", "port", "key",
                                                      "password", "jump", "directory"}));
  Host host;
  TRY_ASSIGN(host.address, object.text("address"));
  if (host.address.empty()) return bad(where, "has no address");
  TRY(check_machine_name(host.address));
  TRY_ASSIGN(host.name, object.text("name"));
  if (host.name.empty()) host.name = host.address;
  TRY(check_machine_name(host.name));
  TRY_ASSIGN(host.user, object.text("user"));
  TRY(check_user(where + ".user", host.user));
  TRY_ASSIGN(host.key, object.text("key"));
  TRY(check_key(where + ".key", host.key));
  TRY_ASSIGN(host.password, object.text("password"));
  if (host.password.size() > kMaxPasswordBytes ||
      host.password.find_first_of(std::string_view("\n\0", 2)) != std::string::npos)
    return bad(where + ".password", "is too long, or contains a line break or NUL byte");
  TRY_ASSIGN(host.jump, jump_of(object, where, jump));
  TRY_ASSIGN(host.directory, object.text("directory"));
  TRY(check_directory(where + ".directory", host.directory));
  TRY_ASSIGN(const auto port, object.integer("port", 1, 65'535));
  host.port = static_cast<int>(port.value_or(0));
  return host;
}

Result<TunnelUse> tunnel_of(const SettingsObject& settings) {
  TRY_ASSIGN(const std::string word, settings.text("tunnel"));
  if (word.empty() || word == "auto") return TunnelUse::automatic;
  if (word == "always") return TunnelUse::always;
  if (word == "never") return TunnelUse::never;
  return bad("settings.tunnel", "is '" + word + "', not auto, always or never");
}

}  // namespace

// Reads a jump host. The account and the host become words in a shell's command line (ssh's
// ProxyCommand).
Result<Jump> jump_from(const std::string& where, const std::string& text) {
  const Error wrong = bad(where, "'" + text + "' is not [USER@]HOST[:PORT]");
  Jump jump;
  std::string rest = text;
  if (const auto at = rest.rfind('@'); at != std::string::npos) {
    jump.user = rest.substr(0, at);
    rest.erase(0, at + 1);
    if (jump.user.empty() || jump.user.size() > kMaxUserBytes || jump.user[0] == '-' ||
        !is_made_of(jump.user, "-."))
      return wrong;
  }
  const bool bracketed = !rest.empty() && rest[0] == '[';
  const auto end = bracketed ? rest.find(']') : rest.find(':');
  jump.address = rest.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end);
  rest.erase(0, end == std::string::npos ? rest.size() : end + (bracketed ? 1 : 0));
  if ((bracketed && end == std::string::npos) || !check_machine_name(jump.address)) return wrong;
  if (rest.empty()) return jump;
  const char* const stop = rest.data() + rest.size();
  const auto read = std::from_chars(rest.data() + 1, stop, jump.port);
  if (rest[0] != ':' || read.ec != std::errc() || read.ptr != stop || jump.port < 1 ||
      jump.port > 65'535)
    return wrong;
  return jump;
}

Result<Settings> settings_from(const std::string& settings_json) {
  const json object = json::parse(settings_json, nullptr, false);
  TRY_ASSIGN(const auto reader,
             SettingsObject::open(object, "settings", {"hosts", "jump", "share", "tunnel"}));
  const auto list = object.find("hosts");
  if (list == object.end() || !list->is_array() || list->empty())
    return bad("settings.hosts", "is not a list of at least one host");
  if (list->size() > kMaxMachines)
    return bad("settings.hosts", fmt::format("has more than {} hosts", kMaxMachines));
  Settings settings;
  TRY_ASSIGN(settings.tunnel, tunnel_of(reader));
  TRY_ASSIGN(settings.share, reader.text("share"));
  if (!is_machine_share(settings.share))
    return bad("settings.share", "is '" + settings.share + "', not I/N, as in 1/2");
  TRY_ASSIGN(const Jump jump, jump_of(reader, "settings", {}));
  std::set<std::string> names;
  for (std::size_t i = 0; i < list->size(); ++i) {
    TRY_ASSIGN(Host host, host_from((*list)[i], fmt::format("settings.hosts[{}]", i), jump));
    if (!names.insert(host.name).second)
      return bad("settings.hosts", "names " + host.name + " twice");
    settings.hosts.push_back(std::move(host));
  }
  return settings;
}

}  // namespace lockstep::compute::ssh
