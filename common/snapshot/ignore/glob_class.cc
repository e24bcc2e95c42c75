#include "common/snapshot/ignore/glob_class.h"

#include <array>
#include <utility>

namespace lockstep::snapshot {
namespace {

bool between(unsigned char c, unsigned char low, unsigned char high) {
  return low <= c && c <= high;
}
bool is_upper(unsigned char c) { return between(c, 'A', 'Z'); }
bool is_lower(unsigned char c) { return between(c, 'a', 'z'); }
bool is_digit(unsigned char c) { return between(c, '0', '9'); }
bool is_alpha(unsigned char c) { return is_upper(c) || is_lower(c); }
bool is_alnum(unsigned char c) { return is_alpha(c) || is_digit(c); }
bool is_blank(unsigned char c) { return c == ' ' || c == '\t'; }
bool is_cntrl(unsigned char c) { return c < 32 || c == 127; }
bool is_graph(unsigned char c) { return between(c, 33, 126); }
bool is_print(unsigned char c) { return between(c, 32, 126); }
bool is_punct(unsigned char c) { return is_graph(c) && !is_alnum(c); }
// Whether a character is a space by git's definition: without vertical tab and form feed.
bool is_space(unsigned char c) { return is_blank(c) || c == '\n' || c == '\r'; }
bool is_xdigit(unsigned char c) {
  return is_digit(c) || between(c, 'a', 'f') || between(c, 'A', 'F');
}

using Test = bool (*)(unsigned char);
constexpr std::array<std::pair<std::string_view, Test>, 12> kNamed{{
    {"alnum", is_alnum},
    {"alpha", is_alpha},
    {"blank", is_blank},
    {"cntrl", is_cntrl},
    {"digit", is_digit},
    {"graph", is_graph},
    {"lower", is_lower},
    {"print", is_print},
    {"punct", is_punct},
    {"space", is_space},
    {"upper", is_upper},
    {"xdigit", is_xdigit},
}};

Test named(std::string_view name) {
  for (const auto& [known, test] : kNamed) {
    if (known == name) return test;
  }
  return nullptr;
}

}  // namespace

std::optional<bool> match_class(std::string_view glob, std::size_t& at, char character) {
  const auto c = static_cast<unsigned char>(character);
  std::size_t i = at + 1;
  const bool negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (negated) ++i;
  bool matched = false;
  std::optional<unsigned char> previous;  // a possible start of a range
  // The first character is never the end: "[]a]" contains ']'.
  for (bool first = true; first || i >= glob.size() || glob[i] != ']'; first = false) {
    if (i >= glob.size()) return std::nullopt;
    const bool is_range = glob[i] == '-' && previous && i + 1 < glob.size() && glob[i + 1] != ']';
    if (is_range) {
      if (glob[++i] == '\\' && ++i >= glob.size()) return std::nullopt;
      matched = matched || between(c, *previous, static_cast<unsigned char>(glob[i++]));
      previous.reset();
      continue;
    }
    if (glob.substr(i).starts_with("[:")) {
      const std::size_t close = glob.find(']', i + 2);
      if (close == glob.npos) return std::nullopt;
      if (close > i + 2 && glob[close - 1] == ':') {
        const Test test = named(glob.substr(i + 2, close - 1 - (i + 2)));
        if (test == nullptr) return std::nullopt;
        matched = matched || test(c);
        previous.reset();
        i = close + 1;
        continue;
      }
    }
    if (glob[i] == '\\' && ++i >= glob.size()) return std::nullopt;
    previous = static_cast<unsigned char>(glob[i++]);
    matched = matched || c == *previous;
  }
  at = i + 1;
  return matched != negated;
}

}  // namespace lockstep::snapshot
