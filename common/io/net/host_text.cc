#include "common/io/net/host_text.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace lockstep::io {
namespace {

constexpr std::size_t kLongestName = 253;  // the limit of RFC 1035, as text

// Whether a character is a letter or digit, whatever the locale.
bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

bool is_ipv6(std::string_view text) {
  const auto percent = text.find('%');
  if (percent != text.npos && !is_name(text.substr(percent + 1))) return false;
  in6_addr address{};
  return ::inet_pton(AF_INET6, std::string(text.substr(0, percent)).c_str(), &address) == 1;
}

}  // namespace

bool is_host(std::string_view text) {
  // inet_pton would stop at a NUL.
  if (text.find('\0') != text.npos) return false;
  const bool is_bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';
  if (is_bracketed) return is_ipv6(text.substr(1, text.size() - 2));
  return is_name(text) || is_ipv6(text);
}

}  // namespace lockstep::io
