#include "common/base/version.h"

#include <charconv>

namespace lockstep {

std::optional<std::vector<std::uint32_t>> version_numbers(std::string_view text) {
  std::vector<std::uint32_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    const auto [rest, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc()) return std::nullopt;
    if (rest == end) return numbers;
    if (*rest != '.') return std::nullopt;
    at = rest + 1;
  }
}

}  // namespace lockstep
