#pragma once
// Limits log lines that others can cause as often as they like: a few a second are written, the
// rest are counted. It reads no clock and writes no file; it returns the lines to write.

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "common/base/rate_limit.h"

namespace lockstep::launcher {

class SampledLog {
 public:
  // The lines to write now: none, or `line`, preceded by the number of lines left out before it.
  std::vector<std::string> take(std::string line, Instant now) {
    if (!limit_.take(0, now)) {
      ++left_out_;
      return {};
    }
    std::vector<std::string> lines;
    if (const auto left_out = std::exchange(left_out_, 0); left_out > 0)
      lines.push_back(fmt::format("{} lines about refused messages were omitted", left_out));
    lines.push_back(std::move(line));
    return lines;
  }

 private:
  RateLimit<int> limit_{{10, 3}};
  std::uint64_t left_out_ = 0;
};

}  // namespace lockstep::launcher
