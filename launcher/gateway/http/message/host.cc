#include "launcher/gateway/http/message/host.h"

#include <algorithm>
#include <utility>

#include "launcher/gateway/http/message/characters.h"

namespace lockstep::http {
namespace {

constexpr std::size_t kMaxHostBytes = 253, kMaxPortDigits = 5;

bool is_name_character(char c) {
  return is_digit(c) || is_letter(c) || c == '-' || c == '.' || c == '_';
}
bool is_address_character(char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; }

bool is_bracketed_address(std::string_view host) {
  return host.size() > 2 && host.front() == '[' && host.back() == ']' &&
         std::all_of(host.begin() + 1, host.end() - 1, is_address_character);
}

}  // namespace

std::optional<HostAndPort> parse_host(std::string_view text) {
  // The last ':' outside of brackets begins the port.
  const auto bracket = text.rfind(']');
  const auto colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view host = text.substr(0, colon);
  if (host.empty() || host.size() > kMaxHostBytes) return std::nullopt;
  if (!is_bracketed_address(host) && !std::all_of(host.begin(), host.end(), is_name_character))
    return std::nullopt;
  HostAndPort result{lower_case(host), ""};
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.empty() || port.size() > kMaxPortDigits ||
        !std::all_of(port.begin(), port.end(), is_digit))
      return std::nullopt;
    result.port = std::string(port);
  }
  return result;
}

HostPolicy::HostPolicy(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::string& name : names_) name = lower_case(name);
}

bool HostPolicy::serves(std::string_view host_field) const {
  const auto host = parse_host(host_field);
  return host && std::find(names_.begin(), names_.end(), host->host) != names_.end();
}

bool is_same_origin(std::string_view origin, std::string_view host_field, bool is_tls) {
  constexpr std::string_view kHttps = "https://", kHttp = "http://";
  if (origin.starts_with(kHttps)) {
    origin.remove_prefix(kHttps.size());
  } else if (!is_tls && origin.starts_with(kHttp)) {
    origin.remove_prefix(kHttp.size());
  } else {
    return false;
  }
  return !origin.empty() && equal_ignoring_case(origin, host_field);
}

}  // namespace lockstep::http
