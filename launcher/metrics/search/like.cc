#include "launcher/metrics/search/like.h"

#include <algorithm>
#include <cstddef>

#include "common/base/utf8.h"

namespace lockstep::metrics {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A byte that is no UTF-8 is a character of its own.
std::size_t length_of_first(std::string_view text) {
  return std::max<std::size_t>(1, first_character(text).length);
}

// The last '%' is the only one to go back to: an earlier one could take no more than it does.
template <typename Same>
bool matches(std::string_view text, std::string_view pattern, const Same& same) {
  std::size_t t = 0, p = 0, after_any = pattern.npos, text_of_any = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      after_any = ++p;
      text_of_any = t;
    } else if (p < pattern.size() && pattern[p] == '_') {
      ++p;
      t += length_of_first(text.substr(t));
    } else if (p < pattern.size() && same(text[t], pattern[p])) {
      ++p;
      ++t;
    } else if (after_any != pattern.npos) {
      text_of_any += length_of_first(text.substr(text_of_any));
      t = text_of_any;
      p = after_any;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('%', p) == pattern.npos;
}

}  // namespace

bool like(std::string_view text, std::string_view pattern) {
  return matches(text, pattern, [](char a, char b) { return a == b; });
}

bool ilike(std::string_view text, std::string_view pattern) {
  return matches(text, pattern, [](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace lockstep::metrics
