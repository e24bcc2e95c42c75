#include "launcher/accounting/usage_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "common/base/nearest.h"
#include "common/base/trimmed.h"

namespace lockstep::launcher {
namespace {

bool is_time(UsageBy by) {
  return by == UsageBy::day || by == UsageBy::week || by == UsageBy::month;
}

std::string key_of(const UsageKey& key, UsageBy by) {
  switch (by) {
    case UsageBy::user: return key.user;
    case UsageBy::project: return key.project;
    case UsageBy::target: return key.target;
    case UsageBy::size: return key.size;
    case UsageBy::day: return to_string(key.day);
    case UsageBy::week: return week_label(key.day);
    case UsageBy::month: return month_label(key.day);
  }
  return "";
}

bool is_wanted_row(const UsageKey& key, const UsageQuery& query) {
  return key.day >= query.since && key.day < query.until &&
         (!query.user || key.user == *query.user) &&
         (!query.project || key.project == *query.project) &&
         (!query.target || key.target == *query.target);
}

std::int64_t value_of(const UsageSums& sums, UsageOrder order) {
  switch (order) {
    case UsageOrder::keys: return 0;
    case UsageOrder::cpu: return sums.cpu_seconds;
    case UsageOrder::gpu: return sums.gpu_seconds;
    case UsageOrder::memory: return sums.memory_mib_seconds;
    case UsageOrder::cost: return sums.cost_micros;
    case UsageOrder::wait: return sums.wait_seconds;
  }
  return 0;
}

Error wrong_by(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

Result<UsageBy> parse_one_by(std::string_view word) {
  std::vector<std::string_view> words;
  for (const UsageBy by : kUsageBys) {
    if (to_string(by) == word) return by;
    words.push_back(to_string(by));
  }
  const std::string near = nearest(word, words);
  return wrong_by(fmt::format("'{}' is nothing to group by; {}", word.substr(0, 40),
                              near.empty() ? fmt::format("there are {}", fmt::join(words, ", "))
                                           : fmt::format("did you mean '{}'?", near)));
}

// The rows beyond the first `top` as one.
void leave_out(UsageReport& report, std::size_t top) {
  if (top == 0 || report.rows.size() <= top + 1) return;
  UsageReport::Row rest;
  report.others = report.rows.size() - top;
  rest.keys.assign(report.by.size(), "");
  rest.keys.front() = fmt::format("({} others)", report.others);
  for (std::size_t i = top; i < report.rows.size(); ++i) rest.sums += report.rows[i].sums;
  report.rows.resize(top);
  report.rows.push_back(std::move(rest));
}

}  // namespace

std::string_view to_string(UsageBy by) {
  switch (by) {
    case UsageBy::user: return "user";
    case UsageBy::project: return "project";
    case UsageBy::target: return "target";
    case UsageBy::size: return "size";
    case UsageBy::day: return "day";
    case UsageBy::week: return "week";
    case UsageBy::month: return "month";
  }
  return "?";
}

std::optional<UsageOrder> usage_order_from(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, UsageOrder>, 6> kWords{
      {{"keys", UsageOrder::keys},
       {"cpu", UsageOrder::cpu},
       {"gpu", UsageOrder::gpu},
       {"memory", UsageOrder::memory},
       {"cost", UsageOrder::cost},
       {"wait", UsageOrder::wait}}};
  for (const auto& [known, order] : kWords)
    if (known == word) return order;
  return std::nullopt;
}

Result<std::vector<UsageBy>> parse_usage_by(std::string_view text) {
  std::vector<UsageBy> all;
  for (std::size_t from = 0; from <= text.size();) {
    const auto end = std::min(text.find(',', from), text.size());
    TRY_ASSIGN(const UsageBy by, parse_one_by(trimmed(text.substr(from, end - from))));
    if (std::find(all.begin(), all.end(), by) != all.end())
      return wrong_by(fmt::format("'{}' is there twice", to_string(by)));
    if (is_time(by) && std::any_of(all.begin(), all.end(), is_time))
      return wrong_by("day, week and month exclude each other; leave all but one out");
    all.push_back(by);
    from = end + 1;
  }
  return all;
}

UsageReport usage_report(const UsageLedger& ledger, std::span<const AttemptUse> running,
                         const UsageQuery& query, Instant now) {
  UsageReport report;
  report.by = query.by.empty() ? std::vector<UsageBy>{UsageBy::user} : query.by;
  report.since = query.since;
  report.until = query.until;
  std::map<std::vector<std::string>, UsageSums> groups;
  const auto add = [&](const UsageKey& key, const UsageSums& sums) {
    if (!is_wanted_row(key, query)) return;
    std::vector<std::string> keys;
    for (const UsageBy by : report.by) keys.push_back(key_of(key, by));
    groups[std::move(keys)] += sums;
    report.total += sums;
  };
  ledger.each(query.since, query.until, add);
  for (const AttemptUse& use : running)
    if (!use.ended)
      for (const auto& [key, sums] : rows_of(use, now)) add(key, sums);
  for (auto& [keys, sums] : groups) report.rows.push_back({keys, sums});
  if (query.order != UsageOrder::keys)
    std::stable_sort(report.rows.begin(), report.rows.end(), [&](const auto& a, const auto& b) {
      return value_of(a.sums, query.order) > value_of(b.sums, query.order);
    });
  leave_out(report, query.top);
  return report;
}

}  // namespace lockstep::launcher
