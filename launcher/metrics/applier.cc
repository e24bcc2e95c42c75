#include "launcher/metrics/applier.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "common/base/check.h"

namespace lockstep::metrics {

namespace {

void change_by(std::uint64_t& count, std::int64_t by) { count += static_cast<std::uint64_t>(by); }

void add_change(JobRow& job, const SeriesChange& change) {
  change_by(job.series, change.series);
  change_by(job.points, change.points);
}

// What grew beyond its limit; what is beyond it already may shrink.
bool is_over(std::uint64_t before, std::uint64_t after, std::uint64_t limit) {
  return limit != 0 && after > limit && after > before;
}

Error over(const JobRow& job, const std::string& what, std::uint64_t limit,
           const std::string& remedy) {
  return make_error(
      ErrorCode::resource_exhausted,
      fmt::format("job '{}' would have more than {} {}; {}", job.name, limit, what, remedy));
}

}  // namespace

Applier::Applier(Database& db, const MetricsLimits& limits, RunTable runs, SeriesTable series,
                 TextTable texts)
    : db_(&db),
      limits_(limits),
      runs_(std::move(runs)),
      series_(std::move(series)),
      texts_(std::move(texts)) {}

Result<Applier> Applier::prepare(Database& db, const MetricsLimits& limits) {
  CHECK(limits.points_per_series >= kLeastPointsPerSeries,
        "a series has room for kLeastPointsPerSeries points");
  TRY_ASSIGN(auto runs, RunTable::prepare(db));
  TRY_ASSIGN(auto series, SeriesTable::prepare(db, limits.points_per_series));
  TRY_ASSIGN(auto texts, TextTable::prepare(db));
  return Applier(db, limits, std::move(runs), std::move(series), std::move(texts));
}

Status Applier::apply(const Change& change) {
  TRY(validate(change));
  TRY(db_->execute("SAVEPOINT change"));
  Status done = std::visit([this](const auto& one) { return apply_now(one); }, change);
  if (!done && db_->is_in_transaction()) TRY(db_->execute("ROLLBACK TO change"));
  if (db_->is_in_transaction()) TRY(db_->execute("RELEASE change"));
  return done;
}

Status Applier::apply_now(const LogBatch& batch) {
  TRY_ASSIGN(const RunRow run, runs_.known(batch.run));
  TRY_ASSIGN(JobRow job, runs_.known(job_of(batch.run)));
  const JobRow before = job;
  TRY(add_points(run, batch, job));
  TRY(set_texts(run, batch, job));
  if (batch.mark) TRY(texts_.set_mark(run.id, *batch.mark));
  TRY(expect_room(before, job));
  return runs_.save(before, job);
}

Status Applier::add_points(const RunRow& run, const LogBatch& batch, JobRow& job) {
  std::map<std::string, std::vector<Point>> by_name;
  for (const NamedPoint& one : batch.points) by_name[one.name].push_back(one.point);
  for (const auto& [name, points] : by_name) {
    const SeriesKey key{run.id, name, batch.attempt.number, batch.attempt.incarnation, batch.rank};
    TRY_ASSIGN(const SeriesChange change, series_.add(key, points));
    add_change(job, change);
  }
  return {};
}

Status Applier::set_texts(const RunRow& run, const LogBatch& batch, JobRow& job) {
  for (const auto& [key, value] : batch.params) {
    TRY_ASSIGN(const std::int64_t more, texts_.set_param(run.id, key, value));
    change_by(job.text_bytes, more);
  }
  for (const std::string& key : batch.removed_tags) {
    TRY_ASSIGN(const std::int64_t more, texts_.remove_tag(run.id, key));
    change_by(job.text_bytes, more);
  }
  for (const auto& [key, value] : batch.tags) {
    TRY_ASSIGN(const std::int64_t more, texts_.set_tag(run.id, key, value));
    change_by(job.text_bytes, more);
  }
  return {};
}

Status Applier::apply_now(const DescribeRun& change) {
  const RunInfo& info = change.info;
  const JobId name = job_of(info.run);
  TRY_ASSIGN(auto job, runs_.find(name));
  if (!is_inside_job(info.run)) {
    if (job)
      TRY(runs_.change_job(*job, info));
    else
      TRY(runs_.add_job(info));
  }
  TRY_ASSIGN(JobRow holder, runs_.known(name));
  TRY_ASSIGN(const auto known, runs_.find(info.run));
  if (known) return runs_.change_run(*known, info);
  const JobRow before = holder;
  ++holder.runs;
  TRY(expect_room(before, holder));
  TRY(runs_.add_run(holder, info));
  return runs_.save(before, holder);
}

// The run's numbers and texts go; its row stays.
Status Applier::empty_run(const RunRow& run, JobRow& job) {
  TRY_ASSIGN(const SeriesChange change, series_.remove_of(run.id));
  add_change(job, change);
  TRY_ASSIGN(const std::int64_t more, texts_.remove_of(run.id));
  change_by(job.text_bytes, more);
  return {};
}

Status Applier::apply_now(const RemoveRun& change) {
  TRY_ASSIGN(const auto run, runs_.find(change.run));
  if (!run) return {};
  TRY_ASSIGN(JobRow job, runs_.known(job_of(change.run)));
  const JobRow before = job;
  TRY(empty_run(*run, job));
  --job.runs;
  TRY(runs_.remove(*run));
  return runs_.save(before, job);
}

Status Applier::apply_now(const RemoveJob& change) {
  TRY_ASSIGN(auto job, runs_.find(change.job));
  if (!job) return {};
  const JobRow before = *job;
  TRY_ASSIGN(const auto runs, runs_.runs_of(*job));
  for (const RunRow& run : runs) {
    TRY(empty_run(run, *job));
    TRY(runs_.remove(run));
  }
  return runs_.remove(before);
}

Status Applier::expect_room(const JobRow& before, const JobRow& after) {
  if (is_over(before.series, after.series, limits_.series_per_job))
    return over(after, "series (metrics of one rank each)", limits_.series_per_job,
                "log fewer metrics, or from fewer ranks");
  if (is_over(before.points, after.points, limits_.points_per_job))
    return over(after, "points of metrics", limits_.points_per_job, "log less often");
  if (is_over(before.text_bytes, after.text_bytes, limits_.text_bytes_per_job))
    return over(after, "bytes of params and tags", limits_.text_bytes_per_job,
                "log long texts as artifacts");
  if (is_over(before.runs, after.runs, limits_.runs_per_job))
    return over(after, "runs", limits_.runs_per_job, "remove some of those inside of it");
  if (limits_.points_per_owner == 0 || after.points <= before.points) return {};
  TRY_ASSIGN(const std::uint64_t owners, runs_.points_of_owner(after.owner));
  if (!is_over(owners, owners + (after.points - before.points), limits_.points_per_owner))
    return {};
  return make_error(ErrorCode::resource_exhausted,
                    fmt::format("the jobs of user '{}' would have more than {} points of metrics; "
                                "delete some of them with `lockstep job delete`",
                                after.owner, limits_.points_per_owner));
}

}  // namespace lockstep::metrics
