#include "launcher/archive/name_pattern.h"

#include <cstddef>

namespace lockstep::archive {

// The last '*' is the only one to go back to: an earlier one could take no more than it does.
bool name_matches(std::string_view name, std::string_view pattern) {
  std::size_t n = 0, p = 0, after_star = pattern.npos, name_of_star = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      name_of_star = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (after_star != pattern.npos) {
      n = ++name_of_star;
      p = after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace lockstep::archive
