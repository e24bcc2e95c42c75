// Sums of what was held and used.

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "launcher/archive/reader.h"

namespace lockstep::archive {

namespace {

// The first day of the period that the day is in.
std::int64_t first_day_of(UseQuery::Period period, std::int64_t day) {
  constexpr std::int64_t kThursday = 3;  // 1970-01-01 was one: so many days after a Monday
  switch (period) {
    case UseQuery::Period::day: return day;
    case UseQuery::Period::week: {
      const std::int64_t since_monday = ((day + kThursday) % 7 + 7) % 7;
      return day - since_monday;
    }
    case UseQuery::Period::month: {
      const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
      const std::chrono::sys_days first{date.year() / date.month() / 1};
      return first.time_since_epoch().count();
    }
    case UseQuery::Period::all: return 0;
  }
  return 0;
}

UseKey key_in(const Statement& row, const UseQuery& query) {
  UseKey key;
  key.day = first_day_of(query.period, row.integer(0));
  if (query.by_owner) key.owner = row.blob(1);
  if (query.by_project) key.project = row.blob(2);
  if (query.by_target) key.target = row.blob(3);
  return key;
}

Use use_in(const Statement& row) {
  return {row.integer(4), row.integer(5), row.integer(6), row.integer(7),
          row.integer(8), row.integer(9), row.integer(10)};
}

void bind_optional(Statement& rows, int index, const std::optional<std::string>& text) {
  if (text)
    rows.bind_text(index, *text);
  else
    rows.bind_null(index);
}

}  // namespace

Result<std::vector<UseRow>> Reader::use(const UseQuery& query) {
  TRY_ASSIGN(auto rows,
             db_.prepare("SELECT day, owner, project, target, cpu_ms, gpu_ms, memory_mib_s, "
                         "used_cpu_ms, waited_ms, attempts, jobs FROM accounting "
                         "WHERE day BETWEEN ?1 AND ?2 AND (?3 IS NULL OR owner = ?3) AND "
                         "(?4 IS NULL OR project = ?4) AND (?5 IS NULL OR target = ?5)"));
  bind_values(rows, query.from_day, query.to_day);
  bind_optional(rows, 3, query.owner);
  bind_optional(rows, 4, query.project);
  bind_optional(rows, 5, query.target);
  std::map<UseKey, Use> sums;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) break;
    sums[key_in(rows, query)] += use_in(rows);
    if (sums.size() > kMaxUseRows)
      return make_error(
          ErrorCode::resource_exhausted,
          fmt::format("the use has more than {} rows; ask for less time, or by less", kMaxUseRows));
  }
  std::vector<UseRow> all;
  for (auto& [key, use] : sums) all.push_back({key, use});
  return all;
}

}  // namespace lockstep::archive
