#pragma once
// Names with '*' and '?', as in `job list --name 'train-*'`.

#include <string_view>

namespace lockstep::archive {

// Takes at most the product of both lengths, whatever the pattern.
bool name_matches(std::string_view name, std::string_view pattern);

// What every name that matches begins with.
inline std::string_view literal_beginning(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of("*?"));
}

}  // namespace lockstep::archive
