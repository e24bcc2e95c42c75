#pragma once
// The rows of jobs and their runs, and what each job takes. Only launcher/metrics uses it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/runs/run.h"
#include "launcher/metrics/tables.h"

namespace lockstep::metrics {

struct RunRow {
  std::int64_t id = 0, job = 0;
};
struct JobRow {
  std::int64_t id = 0;
  std::string name, owner;
  // Of all its runs.
  std::uint64_t points = 0, series = 0, text_bytes = 0, runs = 0;
};

class RunTable {
 public:
  static Result<RunTable> prepare(Database& db);  // `db` must outlive it

  Result<std::optional<JobRow>> find(const JobId& job);
  Result<std::optional<RunRow>> find(const RunId& run);
  // not_found: it was never described, or it was removed.
  Result<JobRow> known(const JobId& job);
  Result<RunRow> known(const RunId& run);
  Result<std::vector<RunRow>> runs_of(const JobRow& job);

  Status add_job(const RunInfo& info);
  Status change_job(const JobRow& job, const RunInfo& info);
  // What the job takes now, also in the sum of its owner.
  Status save(const JobRow& before, const JobRow& after);
  Result<std::uint64_t> points_of_owner(const std::string& owner);
  Status remove(const JobRow& job);

  Status add_run(const JobRow& job, const RunInfo& info);
  Status change_run(const RunRow& run, const RunInfo& info);
  Status remove(const RunRow& run);

 private:
  struct Statements;
  explicit RunTable(std::shared_ptr<Statements> statements);
  std::shared_ptr<Statements> statements_;
};

}  // namespace lockstep::metrics
