#include <fmt/format.h>

#include "launcher/metrics/reader.h"

namespace lockstep::metrics {

namespace {

// What each table says of the others. Series of removed runs (run < 0) are on their way out.
struct Rule {
  const char* broken_by;  // selects the name of what breaks it
  const char* what;
};
constexpr Rule kRules[] = {
    {"SELECT name FROM series WHERE run > 0 AND run NOT IN (SELECT id FROM run)",
     "belongs to no run"},
    {"SELECT name FROM series WHERE run > 0 AND points <> "
     "(SELECT count(*) FROM point WHERE point.series = series.id)",
     "has another number of points than is noted"},
    {"SELECT name FROM latest WHERE NOT EXISTS "
     "(SELECT 1 FROM series WHERE series.run = latest.run AND series.name = latest.name)",
     "has a latest value and no series"},
    {"SELECT name FROM series WHERE run > 0 AND points > 0 AND NOT EXISTS "
     "(SELECT 1 FROM latest WHERE latest.run = series.run AND latest.name = series.name)",
     "has points and no latest value"},
    {"SELECT DISTINCT 'series ' || series FROM point WHERE series NOT IN (SELECT id FROM series)",
     "has points and is not there"},
    {"SELECT run_id FROM run WHERE job NOT IN (SELECT id FROM job)", "is a run of no job"},
    {"SELECT name FROM job WHERE points <> (SELECT coalesce(sum(series.points), 0) FROM series "
     "JOIN run ON run.id = series.run WHERE run.job = job.id)",
     "is a job with another number of points than is noted"},
};

}  // namespace

Result<std::vector<std::string>> Reader::problems() {
  std::vector<std::string> problems;
  const auto note = [&](std::string_view subject, std::string_view what) {
    problems.push_back(
        fmt::format("metrics {}: {}{}{}", db_.path(), subject, subject.empty() ? "" : " ", what));
  };
  TRY_ASSIGN(auto rows, db_.prepare("PRAGMA integrity_check(20)"));
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) break;
    if (rows.blob(0) != "ok") note("", rows.blob(0));
  }
  if (!problems.empty()) return problems;  // its tables cannot be trusted
  for (const Rule& rule : kRules) {
    TRY_ASSIGN(auto broken, db_.prepare(rule.broken_by));
    for (;;) {
      TRY_ASSIGN(const bool row, broken.step());
      if (!row) break;
      if (problems.size() >= kMostProblems) return problems;
      note(fmt::format("'{}'", broken.blob(0)), rule.what);
    }
  }
  return problems;
}

}  // namespace lockstep::metrics
