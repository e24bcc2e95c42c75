#include "common/grammar/conda_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace lockstep {
namespace {

constexpr std::size_t kMaxPortDigits = 5;
constexpr int kMaxPort = 65535;

Error wrong(std::string_view text, std::string_view why) {
  return make_error(ErrorCode::invalid_argument, fmt::format("'{}' {}", text, why));
}

bool is_graphic(char c) { return c > ' ' && c < '\x7f'; }

// Encodes as in an address: "/my channel" becomes "/my%20channel".
std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (char c : text)
    encoded +=
        is_graphic(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return encoded;
}

bool is_port(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || text.size() > kMaxPortDigits || !std::all_of(text.begin(), text.end(), digit))
    return false;
  const int port = std::stoi(std::string(text));
  return port > 0 && port <= kMaxPort;
}

bool consists_of(std::string_view text, std::string_view others) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || others.find(c) != others.npos;
  });
}

// Forms of the place: "host", "host:8080", "[::1]:8080".
Status check_host(std::string_view address, std::string_view place) {
  const bool is_literal = place.starts_with('[');  // an IPv6 address has colons of its own
  const auto end = is_literal ? place.find(']') : place.find(':');
  const std::string_view host = place.substr(is_literal ? 1 : 0, end - (is_literal ? 1 : 0));
  if (host.empty()) return wrong(address, "names no host");
  if (is_literal ? end == place.npos || !consists_of(host, ":.%") : !consists_of(host, "-._"))
    return wrong(address, fmt::format("names no host: '{}'", place));
  const std::string_view rest =
      end == place.npos ? std::string_view() : place.substr(end + (is_literal ? 1 : 0));
  if (rest.empty() || (rest[0] == ':' && is_port(rest.substr(1)))) return {};
  return wrong(address, fmt::format("needs a port from 1 to {} instead of '{}'", kMaxPort, rest));
}

}  // namespace

Status check_no_query(std::string_view text) {
  for (auto at = text.find("://"); at != text.npos; at = text.find("://", at + 3)) {
    // In a match spec "::" ends a channel, but an IPv6 address has "::", too.
    const auto literal = text.substr(at + 3).starts_with('[') ? text.find(']', at) : text.npos;
    const auto from = literal == text.npos ? at + 3 : literal + 1;
    const auto end =
        std::min({text.find("::", from), text.find_first_of(" \t'\"],", from), text.size()});
    const auto mark = text.find_first_of("?#", from);
    if (mark >= end) continue;
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format(
            "an address has a {} ('{}…'), which nodes do not send, and which everybody who may see "
            "the environment could read; leave it out (in a folder's name write {})",
            text[mark] == '?' ? "query" : "fragment", text[mark],
            text[mark] == '?' ? "%3F" : "%23"));
  }
  return {};
}

Status check_address(std::string_view address) {
  TRY(check_no_query(address));
  const auto colon = address.find("://");
  if (colon == address.npos) return wrong(address, "is not an address");
  const std::string_view scheme = address.substr(0, colon);
  const std::string_view rest = address.substr(colon + 3);
  if (scheme != "http" && scheme != "https" && scheme != "file")
    return wrong(
        address,
        fmt::format("has the scheme '{}'; nodes fetch only from http, https and file", scheme));
  if (!std::all_of(address.begin(), address.end(), is_graphic))
    return wrong(address, fmt::format("contains a blank or another character that must be "
                                      "percent-encoded in an address; write {}",
                                      percent_encoded(address)));
  if (scheme == "file") {
    if (rest.starts_with('/') && rest.find_first_not_of('/') != rest.npos) return {};
    return wrong(address, "names no absolute path; write three slashes: file:///PATH");
  }
  const std::string_view place = rest.substr(0, rest.find('/'));
  const auto user = place.rfind('@');
  return check_host(address, user == place.npos ? place : place.substr(user + 1));
}

Status check_channel(std::string_view channel) {
  if (channel.find("://") != channel.npos) return check_address(channel);
  if (!consists_of(channel, "-._/+") || channel.starts_with('-') || channel.starts_with('/'))
    return wrong(channel, "is not the name or address of a channel");
  return {};
}

}  // namespace lockstep
