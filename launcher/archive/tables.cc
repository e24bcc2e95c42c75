#include "launcher/archive/tables.h"

#include <fmt/format.h>

#include "common/wire/why_bytes.h"
#include "launcher/sqlite/schema.h"

namespace lockstep::archive {

namespace {

// `jorder` is the rowid, so an index of one column is also sorted by it.
constexpr const char* kTables = R"(
CREATE TABLE job (
  jorder INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, status TEXT NOT NULL, owner TEXT NOT NULL,
  project TEXT NOT NULL, experiment TEXT NOT NULL, title TEXT NOT NULL, target TEXT NOT NULL,
  parent TEXT NOT NULL, step TEXT NOT NULL, archived INTEGER NOT NULL, shared INTEGER NOT NULL,
  submitted INTEGER NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL,
  nodes INTEGER NOT NULL, attempts INTEGER NOT NULL, cause TEXT NOT NULL, why BLOB NOT NULL)
  STRICT;
CREATE INDEX job_of_status ON job (status);
CREATE INDEX job_of_owner ON job (owner);
CREATE INDEX job_of_project ON job (project);
CREATE INDEX job_of_experiment ON job (experiment);
CREATE INDEX job_of_target ON job (target);
CREATE INDEX job_of_parent ON job (parent);
CREATE INDEX job_submitted ON job (submitted);
CREATE INDEX job_ended ON job (ended, jorder);
CREATE TABLE tag (
  key TEXT NOT NULL, value TEXT NOT NULL, jorder INTEGER NOT NULL,
  PRIMARY KEY (key, value, jorder)) STRICT, WITHOUT ROWID;
CREATE INDEX tag_of_job ON tag (jorder);
CREATE TABLE detail (
  jorder INTEGER PRIMARY KEY, description TEXT NOT NULL, definition BLOB) STRICT;
CREATE TABLE definition (
  digest BLOB PRIMARY KEY, bytes BLOB NOT NULL, jobs INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE accounting (
  day INTEGER NOT NULL, owner TEXT NOT NULL, project TEXT NOT NULL, target TEXT NOT NULL,
  cpu_ms INTEGER NOT NULL, gpu_ms INTEGER NOT NULL, memory_mib_s INTEGER NOT NULL,
  used_cpu_ms INTEGER NOT NULL, waited_ms INTEGER NOT NULL, attempts INTEGER NOT NULL,
  jobs INTEGER NOT NULL, PRIMARY KEY (day, owner, project, target)) STRICT, WITHOUT ROWID;
CREATE TABLE mark (
  only INTEGER PRIMARY KEY CHECK (only = 1), generation INTEGER NOT NULL,
  compacted INTEGER NOT NULL, facts INTEGER NOT NULL, chain BLOB NOT NULL) STRICT;
)";

constexpr launcher::Schema kSchema{0x4c4b4131, 1, "an archive of jobs", kTables};  // "LKA1"

Instant time_in(const Statement& row, int column) { return {row.integer(column)}; }

}  // namespace

Result<Database> open_tables(const std::string& path) {
  TRY_ASSIGN(auto db, Database::open(path));
  TRY(launcher::open_schema(db, kSchema));
  return db;
}

Result<std::optional<JournalPosition>> read_mark(Database& db) {
  TRY_ASSIGN(auto row, db.prepare("SELECT generation, compacted, facts, chain FROM mark"));
  TRY_ASSIGN(const bool found, row.step());
  if (!found) return std::optional<JournalPosition>();
  const auto chain = Digest::from_bytes(row.blob(3));
  if (!chain)
    return make_error(ErrorCode::corrupt, db.path() + ": its place in the journal cannot be read");
  return std::optional(JournalPosition{static_cast<std::uint64_t>(row.integer(0)),
                                       static_cast<std::uint64_t>(row.integer(1)),
                                       static_cast<std::uint64_t>(row.integer(2)), *chain});
}

Result<EndedJob> job_in(const Statement& row) {
  EndedJob job;
  job.order = static_cast<std::uint64_t>(row.integer(0));
  job.job.value = row.blob(1);
  const auto status = job_status_from(row.blob(2));
  if (!status || !is_final(*status))
    return make_error(
        ErrorCode::corrupt,
        fmt::format("the archive has job '{}' with the state '{}'", job.job.value, row.blob(2)));
  job.status = *status;
  job.owner = row.blob(3);
  job.project = row.blob(4);
  job.experiment = row.blob(5);
  job.title = row.blob(6);
  job.target = row.blob(7);
  job.parent.value = row.blob(8);
  job.step = row.blob(9);
  job.archived = row.integer(10) != 0;
  job.shared = row.integer(11) != 0;
  job.submitted = time_in(row, 12);
  job.started = time_in(row, 13);
  job.ended = time_in(row, 14);
  job.nodes = static_cast<int>(row.integer(15));
  job.attempts = static_cast<int>(row.integer(16));
  job.cause = row.blob(17);
  return job;
}

Status set_why(EndedJob& job, std::string_view bytes) {
  auto why = wire::decode_why(bytes);
  if (!why)
    return make_error(ErrorCode::corrupt,
                      fmt::format("the archive's reason for the end of job '{}': {}", job.job.value,
                                  why.error().message));
  job.why = *std::move(why);
  return {};
}

}  // namespace lockstep::archive
