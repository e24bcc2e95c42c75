#include "launcher/cli/terminal/escape_filter.h"

namespace lockstep::cli {

EscapeFilter::Typed EscapeFilter::take(std::string_view typed) {
  Typed result;
  for (const char c : typed) {
    if (is_held_) {
      is_held_ = false;
      if (c == '.') {
        result.leaves = true;
        return result;
      }
      if (c == '?') {
        result.asks = true;
        continue;  // the position is still at the start of a line
      }
      if (c != '~') result.bytes += '~';
    } else if (at_line_start_ && c == '~') {
      is_held_ = true;
      continue;
    }
    result.bytes += c;
    at_line_start_ = c == '\r' || c == '\n';
  }
  return result;
}

}  // namespace lockstep::cli
