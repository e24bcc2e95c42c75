#pragma once
// Applies changes to the tables, each within a savepoint of its own, so that one that is refused
// leaves nothing, and keeps what jobs take within the limits. It begins no transaction and has no
// thread: writer.h does. Only launcher/metrics uses it.

#include <cstdint>

#include "common/domain/runs/change.h"
#include "launcher/metrics/limits.h"
#include "launcher/metrics/run_table.h"
#include "launcher/metrics/series_table.h"
#include "launcher/metrics/tables.h"
#include "launcher/metrics/text_table.h"

namespace lockstep::metrics {

class Applier {
 public:
  // `db` must outlive it.
  static Result<Applier> prepare(Database& db, const MetricsLimits& limits);

  // Within a transaction of the caller. invalid_argument: see validate(). not_found: the run was
  // never described. conflict: a param has another value already. resource_exhausted: a limit.
  // After any of them nothing of the change is there. If db.is_in_transaction() is false
  // afterwards, SQLite has rolled all back.
  Status apply(const Change& change);

  // Removes up to `most` points of removed runs, within a transaction of the caller. False: there
  // are none.
  Result<bool> purge(std::uint64_t most) { return series_.purge(most); }

 private:
  Applier(Database& db, const MetricsLimits& limits, RunTable runs, SeriesTable series,
          TextTable texts);

  Status apply_now(const LogBatch& batch);
  Status apply_now(const DescribeRun& change);
  Status apply_now(const RemoveRun& change);
  Status apply_now(const RemoveJob& change);
  Status add_points(const RunRow& run, const LogBatch& batch, JobRow& job);
  Status set_texts(const RunRow& run, const LogBatch& batch, JobRow& job);
  Status empty_run(const RunRow& run, JobRow& job);
  Status expect_room(const JobRow& before, const JobRow& after);

  Database* db_;
  MetricsLimits limits_;
  RunTable runs_;
  SeriesTable series_;
  TextTable texts_;
};

}  // namespace lockstep::metrics
