#include "launcher/metrics/run_table.h"

#include <fmt/format.h>

#include "common/base/cut.h"
#include "launcher/metrics/limits.h"

namespace lockstep::metrics {

namespace {

constexpr std::size_t kMostOfARun = 100;  // in an error

std::uint64_t count_in(const Statement& row, int column) {
  return static_cast<std::uint64_t>(row.integer(column));
}

Error unknown_run(const std::string& run) {
  return make_error(ErrorCode::not_found,
                    fmt::format("there is no run '{}'", cut(run, kMostOfARun)));
}

}  // namespace

struct RunTable::Statements {
  Statement find_job, find_run, runs_of;
  Statement add_job, change_job, save_job, remove_job;
  Statement add_owner, add_to_owner, find_owner;
  Statement add_run, change_run, remove_run;
};

RunTable::RunTable(std::shared_ptr<Statements> statements) : statements_(std::move(statements)) {}

Result<RunTable> RunTable::prepare(Database& db) {
  auto all = std::make_shared<Statements>();
  TRY_ASSIGN(all->find_job, db.prepare("SELECT id, name, owner, points, series, text_bytes, runs "
                                       "FROM job WHERE name = ?1"));
  TRY_ASSIGN(all->find_run, db.prepare("SELECT id, job FROM run WHERE run_id = ?1"));
  TRY_ASSIGN(all->runs_of, db.prepare("SELECT id, job FROM run WHERE job = ?1"));
  TRY_ASSIGN(all->add_job,
             db.prepare("INSERT INTO job (name, owner, project, shared) VALUES (?1, ?2, ?3, ?4)"));
  TRY_ASSIGN(all->change_job, db.prepare("UPDATE job SET project = ?2, shared = ?3 WHERE id = ?1"));
  TRY_ASSIGN(all->save_job, db.prepare("UPDATE job SET points = ?2, series = ?3, text_bytes = ?4, "
                                       "runs = ?5 WHERE id = ?1"));
  TRY_ASSIGN(all->remove_job, db.prepare("DELETE FROM job WHERE id = ?1"));
  TRY_ASSIGN(all->add_owner, db.prepare("INSERT OR IGNORE INTO owner VALUES (?1, 0)"));
  TRY_ASSIGN(all->add_to_owner,
             db.prepare("UPDATE owner SET points = points + ?2 WHERE name = ?1"));
  TRY_ASSIGN(all->find_owner, db.prepare("SELECT points FROM owner WHERE name = ?1"));
  TRY_ASSIGN(all->add_run,
             db.prepare("INSERT INTO run (job, run_id, experiment, title, status, started, ended, "
                        "deleted) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
  TRY_ASSIGN(all->change_run, db.prepare("UPDATE run SET experiment = ?2, title = ?3, status = ?4, "
                                         "started = ?5, ended = ?6, deleted = ?7 WHERE id = ?1"));
  TRY_ASSIGN(all->remove_run, db.prepare("DELETE FROM run WHERE id = ?1"));
  return RunTable(std::move(all));
}

Result<std::optional<JobRow>> RunTable::find(const JobId& job) {
  Statement& row = statements_->find_job;
  const ResetAtEnd reset(row);
  bind_values(row, job.value);
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return std::optional<JobRow>();
  return std::optional(JobRow{row.integer(0), std::string(row.blob(1)), std::string(row.blob(2)),
                              count_in(row, 3), count_in(row, 4), count_in(row, 5),
                              count_in(row, 6)});
}

Result<std::optional<RunRow>> RunTable::find(const RunId& run) {
  Statement& row = statements_->find_run;
  const ResetAtEnd reset(row);
  bind_values(row, run.value);
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return std::optional<RunRow>();
  return std::optional(RunRow{row.integer(0), row.integer(1)});
}

Result<JobRow> RunTable::known(const JobId& job) {
  TRY_ASSIGN(auto row, find(job));
  if (!row) return unknown_run(job.value);
  return *std::move(row);
}

Result<RunRow> RunTable::known(const RunId& run) {
  TRY_ASSIGN(auto row, find(run));
  if (!row) return unknown_run(run.value);
  return *row;
}

Result<std::vector<RunRow>> RunTable::runs_of(const JobRow& job) {
  Statement& rows = statements_->runs_of;
  const ResetAtEnd reset(rows);
  bind_values(rows, job.id);
  std::vector<RunRow> runs;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return runs;
    runs.push_back({rows.integer(0), rows.integer(1)});
  }
}

Status RunTable::add_job(const RunInfo& info) {
  bind_values(statements_->add_job, info.run.value, info.owner, info.project, info.shared);
  TRY(statements_->add_job.run());
  bind_values(statements_->add_owner, info.owner);
  return statements_->add_owner.run();
}

Status RunTable::change_job(const JobRow& job, const RunInfo& info) {
  bind_values(statements_->change_job, job.id, info.project, info.shared);
  return statements_->change_job.run();
}

Status RunTable::save(const JobRow& before, const JobRow& after) {
  bind_values(statements_->save_job, after.id, after.points, after.series, after.text_bytes,
              after.runs);
  TRY(statements_->save_job.run());
  if (before.points == after.points) return {};
  // The difference of the unsigned numbers is right as a signed one.
  bind_values(statements_->add_to_owner, after.owner, after.points - before.points);
  return statements_->add_to_owner.run();
}

Result<std::uint64_t> RunTable::points_of_owner(const std::string& owner) {
  Statement& row = statements_->find_owner;
  const ResetAtEnd reset(row);
  bind_values(row, owner);
  TRY_ASSIGN(const bool found, row.step());
  return found ? count_in(row, 0) : 0;
}

Status RunTable::remove(const JobRow& job) {
  JobRow empty = job;
  empty.points = 0;
  TRY(save(job, empty));
  bind_values(statements_->remove_job, job.id);
  return statements_->remove_job.run();
}

Status RunTable::add_run(const JobRow& job, const RunInfo& info) {
  const std::string experiment = cut(info.experiment, kMaxRunWordBytes);
  const std::string title = cut(info.title, kMaxRunWordBytes);
  bind_values(statements_->add_run, job.id, info.run.value, experiment, title,
              to_string(info.status), info.started.ns, info.ended.ns, info.deleted);
  return statements_->add_run.run();
}

Status RunTable::change_run(const RunRow& run, const RunInfo& info) {
  const std::string experiment = cut(info.experiment, kMaxRunWordBytes);
  const std::string title = cut(info.title, kMaxRunWordBytes);
  bind_values(statements_->change_run, run.id, experiment, title, to_string(info.status),
              info.started.ns, info.ended.ns, info.deleted);
  return statements_->change_run.run();
}

Status RunTable::remove(const RunRow& run) {
  bind_values(statements_->remove_run, run.id);
  return statements_->remove_run.run();
}

}  // namespace lockstep::metrics
