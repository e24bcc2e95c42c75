#pragma once
// What was used between two days, grouped by what is asked for: `lockstep usage --by user,week`.
// Pure.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "launcher/accounting/usage_ledger.h"

namespace lockstep::launcher {

enum class UsageBy { user, project, target, size, day, week, month };
std::string_view to_string(UsageBy by);
inline constexpr UsageBy kUsageBys[] = {UsageBy::user, UsageBy::project, UsageBy::target,
                                        UsageBy::size, UsageBy::day,     UsageBy::week,
                                        UsageBy::month};

// "user,week". Each word at most once, and one of day, week and month.
Result<std::vector<UsageBy>> parse_usage_by(std::string_view text);

// Rows with the largest values first; `keys`: in the order of their keys.
enum class UsageOrder { keys, cpu, gpu, memory, cost, wait };
std::optional<UsageOrder> usage_order_from(std::string_view word);

struct UsageQuery {
  std::vector<UsageBy> by = {UsageBy::user};
  Day since, until;  // from the first one on, and before the second one
  // Only these; absent: all. A user who may see only her own use asks with her name here.
  std::optional<std::string> user = {}, project = {}, target = {};
  UsageOrder order = UsageOrder::keys;
  std::size_t top = 0;  // at most so many rows, and one for all others; 0: all
};

struct UsageReport {
  struct Row {
    std::vector<std::string> keys;  // as many as `by`
    UsageSums sums;
    friend bool operator==(const Row&, const Row&) = default;
  };
  std::vector<UsageBy> by;
  Day since, until;
  std::vector<Row> rows;
  std::size_t others = 0;  // groups that `top` left out, whose sums are the last row
  UsageSums total;
  friend bool operator==(const UsageReport&, const UsageReport&) = default;
};

// `running`: attempts that go on, until `now`.
UsageReport usage_report(const UsageLedger& ledger, std::span<const AttemptUse> running,
                         const UsageQuery& query, Instant now);

}  // namespace lockstep::launcher
