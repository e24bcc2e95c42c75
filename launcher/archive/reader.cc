#include "launcher/archive/reader.h"

#include <fmt/format.h>

#include <utility>

namespace lockstep::archive {

Result<Reader> Reader::open(const std::string& path) {
  TRY_ASSIGN(auto db, open_tables(path));
  TRY(db.execute("PRAGMA query_only = ON"));
  return Reader(std::move(db));
}

Result<std::optional<EndedJob>> Reader::find(const JobId& job) {
  const std::string sql = fmt::format(
      "SELECT {}, detail.description, detail.definition FROM job JOIN detail "
      "ON detail.jorder = job.jorder WHERE job.name = ?1",
      kJobColumns);
  TRY_ASSIGN(auto row, db_.prepare(sql.c_str()));
  bind_values(row, job.value);
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return std::optional<EndedJob>();
  std::vector<EndedJob> one;
  TRY_ASSIGN(EndedJob ended, job_in(row));
  TRY(set_why(ended, why_in(row)));
  constexpr int kDescription = 19, kDefinition = 20;
  ended.description = row.blob(kDescription);
  if (!row.is_null(kDefinition)) ended.definition = Digest::from_bytes(row.blob(kDefinition));
  one.push_back(std::move(ended));
  TRY(fill_tags(one));
  return std::optional(std::move(one.front()));
}

Result<std::optional<std::string>> Reader::definition(const Digest& digest) {
  TRY_ASSIGN(auto row, db_.prepare("SELECT bytes FROM definition WHERE digest = ?1"));
  row.bind_blob(1, digest.view());
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return std::optional<std::string>();
  return std::optional(std::string(row.blob(0)));
}

Result<std::map<JobStatus, std::int64_t>> Reader::counts() {
  TRY_ASSIGN(auto rows, db_.prepare("SELECT status, count(*) FROM job GROUP BY status"));
  std::map<JobStatus, std::int64_t> counts;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return counts;
    if (const auto status = job_status_from(rows.blob(0))) counts[*status] = rows.integer(1);
  }
}

Status Reader::fill_tags(std::vector<EndedJob>& jobs) {
  TRY_ASSIGN(auto tags, db_.prepare("SELECT key, value FROM tag WHERE jorder = ?1"));
  for (EndedJob& job : jobs) {
    const ResetAtEnd reset(tags);
    bind_values(tags, job.order);
    for (;;) {
      TRY_ASSIGN(const bool tag, tags.step());
      if (!tag) break;
      job.tags.emplace(std::string(tags.blob(0)), std::string(tags.blob(1)));
    }
  }
  return {};
}

Result<std::vector<std::string>> Reader::problems() {
  TRY_ASSIGN(auto rows, db_.prepare("PRAGMA integrity_check(20)"));
  std::vector<std::string> problems;
  for (;;) {
    TRY_ASSIGN(const bool row, rows.step());
    if (!row) return problems;
    if (rows.blob(0) != "ok")
      problems.push_back(fmt::format("archive {}: {}", db_.path(), rows.blob(0)));
  }
}

}  // namespace lockstep::archive
