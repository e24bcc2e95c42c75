#include "common/base/quoted_name.h"

#include <algorithm>

namespace lockstep {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

std::string escaped(char c) {
  switch (c) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    case '"': return "\\\"";
    case '\\': return "\\\\";
    default: break;
  }
  if (!is_control(c)) return std::string(1, c);
  constexpr const char* kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
}

}  // namespace

std::string quoted_name(std::string_view name) {
  const bool is_plain =
      !name.empty() && name.front() != '"' && std::none_of(name.begin(), name.end(), is_control);
  if (is_plain) return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) quoted += escaped(c);
  return quoted + "\"";
}

}  // namespace lockstep
