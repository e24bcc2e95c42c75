#include "common/base/redrawn.h"

namespace lockstep {

std::string_view last_state(std::string_view line) {
  const auto last = line.find_last_not_of("\r\n");
  if (last == std::string_view::npos) return line;
  const auto restart = line.rfind('\r', last);
  return restart == std::string_view::npos ? line : line.substr(restart + 1);
}

std::string last_states(std::string_view text) {
  std::string states;
  while (!text.empty()) {
    const auto newline = text.find('\n');
    const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    states += last_state(text.substr(0, size));
    text.remove_prefix(size);
  }
  return states;
}

}  // namespace lockstep
