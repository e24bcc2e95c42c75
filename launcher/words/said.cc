#include "launcher/words/said.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/cut.h"
#include "common/base/printable.h"

namespace lockstep::words {

namespace {

constexpr std::size_t kMostRanges = 6;
constexpr Duration kInSeconds = minutes(10);

std::string listed(const std::vector<std::string>& items, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? last : ", ";
    text += items[i];
  }
  return text;
}

}  // namespace

std::string shown(std::string_view text) { return cut(in_one_line(text), kShownTextBytes); }

std::string node_name(const About& about, int node_rank) {
  std::string name = about.node_of ? about.node_of(node_rank) : "";
  return name.empty() ? fmt::format("node {}", node_rank) : shown(name);
}

std::string ranks_text(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.empty()) return "no rank";
  std::vector<std::string> ranges;
  std::size_t told = 0;
  for (std::size_t i = 0; i < ranks.size() && ranges.size() < kMostRanges;) {
    std::size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    ranges.push_back(end == i ? std::to_string(ranks[i])
                              : fmt::format("{}–{}", ranks[i], ranks[end]));
    told = i = end + 1;
  }
  if (told < ranks.size()) ranges.push_back(fmt::format("{} more", ranks.size() - told));
  return (ranks.size() == 1 ? "rank " : "ranks ") + listed(ranges, " and ");
}

std::string lasting_text(Duration lasting) {
  const auto whole = std::chrono::floor<seconds>(std::max(lasting, Duration::zero()));
  return whole < kInSeconds ? fmt::format("{} s", whole.count()) : format_duration(whole);
}

}  // namespace lockstep::words
