#include "launcher/compute/agent_output.h"

#include <algorithm>

namespace lockstep::compute {
namespace {

constexpr std::size_t kMaxLine = 500;

}  // namespace

bool says_joined(std::string_view line) {
  const auto program = line.find("lockstep-agent ");
  return program != line.npos && line.find(" of node ", program) != line.npos;
}

std::string last_line(std::string_view text) {
  std::string_view last;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool idle = line.find_first_not_of(" \t\r") == line.npos || line.starts_with("See '") ||
                      line.starts_with("Run '") || line.starts_with("Try \"") ||
                      line.starts_with("time=\"");
    if (!idle) last = line;
  }
  return std::string(last.substr(0, std::min(last.find_last_not_of(" \t\r") + 1, kMaxLine)));
}

}  // namespace lockstep::compute
