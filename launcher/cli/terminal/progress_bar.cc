#include "launcher/cli/terminal/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace lockstep::cli {
namespace {

constexpr std::uint64_t kWidth = 10;
constexpr std::string_view kBefore = " (";
constexpr std::string_view kAfter = " ),;:";

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::string> bar_of(std::string_view word) {
  const auto slash = word.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto done = number(word.substr(0, slash)), all = number(word.substr(slash + 1));
  if (!done || !all || *all == 0) return std::nullopt;
  const double share = static_cast<double>(std::min(*done, *all)) / static_cast<double>(*all);
  const auto full = static_cast<std::size_t>(share * kWidth);
  return fmt::format("[{}{}]", std::string(full, '='), std::string(kWidth - full, ' '));
}

}  // namespace

std::string with_bars(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find_first_not_of(kBefore), text.size());
    out += text.substr(0, begin);
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(kAfter), text.size());
    const std::string_view word = text.substr(0, end);
    if (const auto bar = bar_of(word)) out += *bar + " ";
    out += word;
    text.remove_prefix(end);
    const std::size_t rest = std::min(text.find_first_of(kBefore), text.size());
    out += text.substr(0, rest);
    text.remove_prefix(rest);
  }
  return out;
}

}  // namespace lockstep::cli
