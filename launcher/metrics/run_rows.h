#pragma once
// Runs as a question about the tables selects them. Only launcher/metrics uses it.

#include "common/domain/runs/run.h"
#include "launcher/metrics/tables.h"

namespace lockstep::metrics {

// Conditions follow; `run` and `job` are the tables.
inline constexpr const char* kSelectRuns =
    "SELECT run.id, run.run_id, run.experiment, run.title, run.status, run.started, run.ended, "
    "run.deleted, job.owner, job.project, job.shared FROM run JOIN job ON job.id = run.job ";

inline RunInfo info_in(const Statement& row) {
  RunInfo info;
  info.run.value = row.blob(1);
  info.experiment = row.blob(2);
  info.title = row.blob(3);
  info.status = run_status_from(row.blob(4)).value_or(RunStatus::scheduled);
  info.started.ns = row.integer(5);
  info.ended.ns = row.integer(6);
  info.deleted = row.integer(7) != 0;
  info.owner = row.blob(8);
  info.project = row.blob(9);
  info.shared = row.integer(10) != 0;
  return info;
}

}  // namespace lockstep::metrics
