#include "common/base/quoted_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/marks.h"
#include "common/base/printable.h"
#include "common/base/utf8.h"

namespace lockstep {
namespace {

// Whether a reader would take the character for another one.
bool is_odd(const Utf8Character& character, MarkWatch& marks) {
  if (character.length == 0) {
    marks.forget();
    return false;
  }
  const bool is_lone = marks.is_lone(character.code);
  const bool odd = is_lone || is_hidden(character.code) || is_odd_blank(character.code);
  if (odd) marks.forget();
  return odd;
}

std::string escaped(std::string_view text, const Utf8Character& character, bool is_odd) {
  const auto code = static_cast<std::uint32_t>(character.code);
  switch (code) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    case '"': return "\\\"";
    case '\\': return "\\\\";
    default: break;
  }
  if (!is_odd) return std::string(text);
  if (code < 0x80) return fmt::format("\\x{:02x}", code);
  return code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
}

}  // namespace

std::string quoted_name(std::string_view name) {
  bool is_plain = !name.empty() && name.front() != '"';
  std::string quoted = "\"";
  MarkWatch marks;
  for (std::string_view rest = name; !rest.empty();) {
    const Utf8Character character = first_character(rest);
    const std::size_t length = std::max<std::size_t>(1, character.length);
    const bool odd = is_odd(character, marks);
    is_plain = is_plain && !odd;
    quoted += escaped(rest.substr(0, length), character, odd);
    rest.remove_prefix(length);
  }
  return is_plain ? std::string(name) : quoted + "\"";
}

}  // namespace lockstep
