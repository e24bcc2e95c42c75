#include "launcher/metrics/reader.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/cut.h"
#include "launcher/metrics/run_rows.h"
#include "launcher/metrics/series_table.h"

namespace lockstep::metrics {

namespace {

constexpr std::size_t kMostOfAnAskedRun = 100;  // in an error

constexpr const char* kSelectLatest =
    "SELECT name, attempt, step, time, is_nan, value, least, least_step, greatest, greatest_step "
    "FROM latest ";
MetricSummary summary_in(const Statement& row) {
  MetricSummary one;
  one.name = row.blob(0);
  one.attempt = static_cast<std::uint32_t>(row.integer(1));
  one.last = {row.integer(2), Instant{row.integer(3)},
              value_of({row.integer(4) != 0, row.real(5)})};
  if (!row.is_null(6)) one.least = row.real(6);
  one.least_step = row.integer(7);
  if (!row.is_null(8)) one.greatest = row.real(8);
  one.greatest_step = row.integer(9);
  return one;
}

Error no_such_run(const RunId& run) {
  return make_error(ErrorCode::not_found,
                    fmt::format("there is no run '{}'", cut(run.value, kMostOfAnAskedRun)));
}

}  // namespace

Result<Reader> Reader::open(const std::string& path) {
  TRY_ASSIGN(auto db, open_tables(path));
  TRY(db.execute("PRAGMA query_only = ON"));
  return Reader(std::move(db));
}

Result<std::int64_t> Reader::id_of(const RunId& run) {
  TRY_ASSIGN(auto row, db_.prepare("SELECT id FROM run WHERE run_id = ?1"));
  bind_values(row, run.value);
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return no_such_run(run);
  return row.integer(0);
}

Result<RunInfo> Reader::run(const RunId& run) {
  const std::string sql = std::string(kSelectRuns) + "WHERE run.run_id = ?1";
  TRY_ASSIGN(auto row, db_.prepare(sql.c_str()));
  bind_values(row, run.value);
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return no_such_run(run);
  return info_in(row);
}

Result<std::vector<RunInfo>> Reader::runs_of(const JobId& job) {
  const std::string sql = std::string(kSelectRuns) + "WHERE job.name = ?1 ORDER BY run.id";
  TRY_ASSIGN(auto rows, db_.prepare(sql.c_str()));
  bind_values(rows, job.value);
  std::vector<RunInfo> runs;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) break;
    runs.push_back(info_in(rows));
  }
  if (runs.empty()) return no_such_run(run_of(job));
  return runs;
}

Result<RunData> Reader::data(const RunId& run) {
  TRY_ASSIGN(const std::int64_t id, id_of(run));
  return data_of(id);
}

Result<std::vector<MetricSummary>> Reader::latest(const RunId& run,
                                                  const std::vector<std::string>& metrics) {
  std::vector<MetricSummary> latest;
  const std::string sql = std::string(kSelectLatest) +
                          "WHERE run = (SELECT id FROM run WHERE run_id = ?1) AND name = ?2";
  TRY_ASSIGN(auto row, db_.prepare(sql.c_str()));
  for (const std::string& metric : metrics) {
    const ResetAtEnd reset(row);
    bind_values(row, run.value, metric);
    TRY_ASSIGN(const bool found, row.step());
    if (found) latest.push_back(summary_in(row));
  }
  return latest;
}

Result<RunData> Reader::data_of(std::int64_t run) {
  RunData data;
  const std::string sql = std::string(kSelectLatest) + "WHERE run = ?1 ORDER BY name";
  TRY_ASSIGN(auto metrics, db_.prepare(sql.c_str()));
  bind_values(metrics, run);
  for (;;) {
    TRY_ASSIGN(const bool row, metrics.step());
    if (!row) break;
    data.metrics.push_back(summary_in(metrics));
  }
  TRY_ASSIGN(auto texts, db_.prepare("SELECT kind, key, value FROM text WHERE run = ?1"));
  bind_values(texts, run);
  for (;;) {
    TRY_ASSIGN(const bool row, texts.step());
    if (!row) return data;
    const bool is_param = texts.integer(0) == static_cast<std::int64_t>(TextKind::param);
    auto& where = is_param ? data.params : data.tags;
    where.emplace(std::string(texts.blob(1)), std::string(texts.blob(2)));
  }
}

Result<std::optional<SourceMark>> Reader::mark(const RunId& run, const std::string& source) {
  TRY_ASSIGN(const std::int64_t id, id_of(run));
  TRY_ASSIGN(auto row,
             db_.prepare("SELECT offset, state FROM source WHERE run = ?1 AND source = ?2"));
  bind_values(row, id, source);
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return std::optional<SourceMark>();
  return std::optional(
      SourceMark{source, static_cast<std::uint64_t>(row.integer(0)), std::string(row.blob(1))});
}

}  // namespace lockstep::metrics
