#include "launcher/cli/text/rank_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "common/base/printable.h"
#include "common/domain/why/all/convert.h"
#include "launcher/cli/text/phrases.h"

namespace lockstep::cli {

namespace {

constexpr std::size_t kOneByOne = 8;  // parts with more ranks are summed up
constexpr std::size_t kMostLines = 64;
constexpr std::size_t kMostEndedBefore = 4;
constexpr std::size_t kMostAddresses = 8;

std::string what_of(const RankView& rank) {
  switch (rank.state) {
    case RankState::waiting: return "waiting";
    case RankState::running: return "running";
    case RankState::exited: return fmt::format("exited with code {}", rank.end.exit_code);
    case RankState::killed:
      return fmt::format("killed by signal {} (exit code {})", rank.end.signal, rank.end.exit_code);
    case RankState::terminated: return fmt::format("terminated (exit code {})", rank.end.exit_code);
    case RankState::not_started: return "never started";
    case RankState::unknown: return "unknown";
  }
  return "unknown";
}

// "rank 3", "ranks 4–7".
std::string who(const std::vector<int>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", ranges_in_words(ranks));
}

struct Group {
  std::string what;
  std::vector<int> ranks;
  Instant first, last;  // ns = 0: unknown
};

std::string when(const Group& group) {
  if (group.first.ns == 0) return "";
  if (group.first == group.last) return " at " + to_string(group.first);
  return fmt::format(" between {} and {}", to_string(group.first), to_string(group.last));
}

std::vector<Group> groups_of(const std::vector<RankView>& ranks) {
  std::vector<Group> groups;
  for (const RankView& rank : ranks) {
    const std::string what = what_of(rank);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& known) { return known.what == what; });
    if (ranks.size() <= kOneByOne || group == groups.end())
      group = groups.insert(groups.end(), {what, {}, rank.end.time, rank.end.time});
    group->ranks.push_back(rank.rank);
    group->first = std::min(group->first, rank.end.time);
    group->last = std::max(group->last, rank.end.time);
  }
  return groups;
}

bool is_of_an_address(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
}

// Whether the text has the whole address: 10.93.0.4 is not part of 10.93.0.41. A port or the end of
// a sentence may follow.
bool names(std::string_view text, std::string_view address) {
  const bool is_v4 = address.find(':') == std::string_view::npos;
  for (auto at = text.find(address); at != std::string_view::npos;
       at = text.find(address, at + 1)) {
    if (at > 0 && is_of_an_address(text[at - 1])) continue;
    std::string_view rest = text.substr(at + address.size());
    const bool ends_here = rest.empty() || !is_of_an_address(rest[0]);
    const bool ends_sentence = !rest.empty() && (rest[0] == '.' || rest[0] == ':') &&
                               (rest.size() == 1 || !is_of_an_address(rest[1]));
    const bool has_port = is_v4 && !rest.empty() && rest[0] == ':';
    if (ends_here || ends_sentence || has_port) return true;
  }
  return false;
}

// Whether any text within a reason has the address.
bool names(const WhyData& reason, std::string_view address);
bool names(const WhyValue& value, std::string_view address) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return names(*text, address);
  if (const auto* record = std::get_if<WhyData>(&value.value)) return names(*record, address);
  const auto* list = std::get_if<WhyList>(&value.value);
  return list != nullptr && std::any_of(list->begin(), list->end(),
                                        [&](const WhyValue& item) { return names(item, address); });
}
bool names(const WhyData& reason, std::string_view address) {
  return std::any_of(reason.fields.begin(), reason.fields.end(),
                     [&](const WhyField& field) { return names(field.value, address); });
}

bool is_of_one_node(const AttemptView& attempt, const PartView& part, const std::string& address) {
  return std::none_of(attempt.parts.begin(), attempt.parts.end(), [&](const PartView& other) {
    const auto& all = other.addresses;
    return other.node_rank != part.node_rank &&
           std::find(all.begin(), all.end(), address) != all.end();
  });
}

std::vector<int> all_ranks(const PartView& part) {
  std::vector<int> ranks;
  for (int rank = 0; rank < part.ranks; ++rank) ranks.push_back(part.first_rank + rank);
  return ranks;
}

}  // namespace

std::string rank_state_lines(const PartView& part) {
  if (part.state < PartState::running) return "";
  std::string text;
  std::size_t lines = 0;
  for (const Group& group : groups_of(ranks_of(part))) {
    if (group.what == "unknown") continue;
    if (++lines > kMostLines) return text + "      and more; -o json shows all\n";
    text += fmt::format("      {}: {}{}\n", who(group.ranks), group.what, when(group));
  }
  return text;
}

std::string ended_before_lines(const AttemptView& attempt, const ExitReport& report) {
  struct Before {
    const PartView* part;
    RankEnd end;
  };
  std::vector<Before> before;
  for (const PartView& part : attempt.parts)
    for (const RankEnd& end : part.ended)
      if (end.started && !end.failed && !end.terminated_by_us && end.time.ns != 0 &&
          end.time < report.time)
        before.push_back({&part, end});
  std::sort(before.begin(), before.end(),
            [](const Before& a, const Before& b) { return a.end.time < b.end.time; });
  std::string text;
  for (std::size_t i = 0; i < before.size() && i < kMostEndedBefore; ++i)
    text += fmt::format("  {} before it, rank {} on {} had exited with code {}\n",
                        format_duration(report.time - before[i].end.time), before[i].end.rank,
                        in_one_line(before[i].part->node_name), before[i].end.exit_code);
  if (before.size() <= kMostEndedBefore) return text;
  std::vector<int> rest;
  for (std::size_t i = kMostEndedBefore; i < before.size(); ++i) rest.push_back(before[i].end.rank);
  return text + fmt::format("  and so had {}\n", who(rest));
}

std::string address_lines(const AttemptView& attempt, const ExitReport& report) {
  const WhyData reason = to_data(report.why);
  std::string text;
  std::size_t lines = 0;
  for (const PartView& part : attempt.parts)
    for (const std::string& address : part.addresses) {
      if (address.empty() || !is_of_one_node(attempt, part, address)) continue;
      if (!names(report.stderr_tail, address) && !names(reason, address)) continue;
      if (++lines > kMostAddresses) return text;
      text += fmt::format("  {} is {}, {}\n", in_one_line(address), in_one_line(part.node_name),
                          who(all_ranks(part)));
    }
  return text;
}

}  // namespace lockstep::cli
