#include "launcher/files/targets/ssh_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {
namespace {

constexpr std::size_t kMaxNameBytes = 63;
constexpr int kMaxPort = 65'535;
constexpr std::string_view kForm = "write [USER@]ADDRESS[:PORT]";

Error bad_host(const std::string& text, std::string_view why) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is not a host: {}", text.substr(0, 200), why));
}

// The text after the account: an address, and perhaps a port.
struct Parts {
  std::string address;
  std::optional<std::string> port;
};

Result<Parts> parts_of(const std::string& text, const std::string& rest) {
  if (rest.starts_with('[')) {
    const auto close = rest.find(']');
    if (close == std::string::npos) return bad_host(text, "its '[' is not closed");
    Parts parts{rest.substr(1, close - 1), std::nullopt};
    const std::string tail = rest.substr(close + 1);
    if (tail.empty()) return parts;
    if (tail[0] != ':')
      return bad_host(text, fmt::format("'{}' follows the ']'; only :PORT can", tail));
    parts.port = tail.substr(1);
    return parts;
  }
  const auto colon = rest.find(':');
  if (colon == std::string::npos) return Parts{rest, std::nullopt};
  if (rest.find(':', colon + 1) != std::string::npos)
    return bad_host(text, fmt::format("an IPv6 address stands in brackets: [{}]", rest));
  return Parts{rest.substr(0, colon), rest.substr(colon + 1)};
}

}  // namespace

Result<SshHost> parse_host(const std::string& text) {
  SshHost host;
  std::string rest = text;
  if (const auto at = text.rfind('@'); at != std::string::npos) {
    host.user = text.substr(0, at);
    rest = text.substr(at + 1);
    if (host.user.empty())
      return bad_host(text, fmt::format("no account is before the '@'; {}", kForm));
  }
  TRY_ASSIGN(const Parts parts, parts_of(text, rest));
  host.address = parts.address;
  if (host.address.empty()) return bad_host(text, fmt::format("it has no address; {}", kForm));
  if (parts.port) {
    const auto port = parse_port(*parts.port);
    if (!port)
      return bad_host(text, fmt::format("'{}' is not a port from 1 to {}", *parts.port, kMaxPort));
    host.port = *port;
  }
  host.name = default_host_name(host.address);
  if (const std::string wrong = fault_of_field(host); !wrong.empty()) return bad_host(text, wrong);
  return host;
}

std::string default_host_name(const std::string& address) {
  std::string name = address;
  for (char& c : name) {
    const bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (!is_good) c = '-';
  }
  if (name.empty() || name[0] == '-' || is_host_name_of_digits(name)) name.insert(0, "host-");
  name.resize(std::min(name.size(), kMaxNameBytes));
  return name;
}

bool is_host_name_of_digits(const std::string& name) {
  return name.find_first_not_of("0123456789") == std::string::npos;
}

std::optional<int> parse_port(const std::string& text) {
  const auto port = to_whole_number(text);
  if (!port || *port < 1 || *port > kMaxPort) return std::nullopt;
  return port;
}

void fill_in(SshHost& host, const SshHost& defaults) {
  if (host.user.empty()) host.user = defaults.user;
  if (host.port == 0) host.port = defaults.port;
  if (host.key.empty() && host.password_secret.empty()) {
    host.key = defaults.key;
    host.password_secret = defaults.password_secret;
  }
  if (host.jump.empty()) host.jump = defaults.jump;
  if (host.directory.empty()) host.directory = defaults.directory;
}

std::string absolute_key(const std::string& path, const std::string& folder) {
  if (path.empty() || path[0] == '/' || path[0] == '~') return path;
  std::error_code failed;
  const auto whole = std::filesystem::absolute(std::filesystem::path(folder) / path, failed);
  return failed ? path : whole.lexically_normal().string();
}

std::string fault_of_field(SshHost fields) {
  if (fields.name.empty()) fields.name = "host";
  if (fields.address.empty()) fields.address = "host";
  const Status good = check(fields);
  if (good) return "";
  const std::string prefix = fmt::format("host {}: ", fields.address.substr(0, 100));
  const std::string& message = good.error().message;
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

}  // namespace lockstep::spec
