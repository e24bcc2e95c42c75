#include "common/grammar/slurm_time.h"

#include <charconv>
#include <vector>

namespace lockstep {
namespace {

constexpr long long kMostSeconds = 100LL * 366 * 86'400;

std::optional<long long> whole(std::string_view text) {
  long long number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return good && !text.empty() && number >= 0 && number <= kMostSeconds ? std::optional(number)
                                                                        : std::nullopt;
}

}  // namespace

std::optional<Duration> parse_slurm_time(const std::string& text) {
  const auto dash = text.find('-');
  const bool has_days = dash != text.npos;
  std::string_view rest = text;
  if (has_days) rest.remove_prefix(dash + 1);
  std::vector<long long> numbers;
  while (true) {
    const auto colon = rest.find(':');
    const auto number = whole(rest.substr(0, colon));
    if (!number || numbers.size() == 3) return std::nullopt;
    numbers.push_back(*number);
    if (colon == rest.npos) break;
    rest.remove_prefix(colon + 1);
  }
  long long seconds_in_all = 0;
  if (has_days) {
    const auto days = whole(std::string_view(text).substr(0, dash));
    if (!days) return std::nullopt;
    numbers.resize(3);
    seconds_in_all = *days * 86'400 + numbers[0] * 3'600 + numbers[1] * 60 + numbers[2];
  } else if (numbers.size() == 1) {
    seconds_in_all = numbers[0] * 60;
  } else if (numbers.size() == 2) {
    seconds_in_all = numbers[0] * 60 + numbers[1];
  } else {
    seconds_in_all = numbers[0] * 3'600 + numbers[1] * 60 + numbers[2];
  }
  if (seconds_in_all > kMostSeconds) return std::nullopt;
  return seconds(seconds_in_all);
}

}  // namespace lockstep
