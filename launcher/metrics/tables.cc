#include "launcher/metrics/tables.h"

#include "launcher/metrics/search/like.h"
#include "launcher/sqlite/schema.h"

namespace lockstep::metrics {

namespace {

// Ids are never used again, so that what is purged later cannot become part of something new.
constexpr const char* kTables = R"(
CREATE TABLE job (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
  project TEXT NOT NULL, shared INTEGER NOT NULL,
  points INTEGER NOT NULL DEFAULT 0, series INTEGER NOT NULL DEFAULT 0,
  text_bytes INTEGER NOT NULL DEFAULT 0, runs INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE owner (name TEXT PRIMARY KEY, points INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT, job INTEGER NOT NULL, run_id TEXT NOT NULL UNIQUE,
  experiment TEXT NOT NULL, title TEXT NOT NULL, status TEXT NOT NULL, started INTEGER NOT NULL,
  ended INTEGER NOT NULL, deleted INTEGER NOT NULL) STRICT;
CREATE INDEX run_of_job ON run (job);
CREATE INDEX run_of_experiment ON run (experiment, started DESC, run_id);
CREATE TABLE series (
  id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, name TEXT NOT NULL,
  attempt INTEGER NOT NULL, incarnation INTEGER NOT NULL, rank INTEGER NOT NULL,
  points INTEGER NOT NULL DEFAULT 0, thinned INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE UNIQUE INDEX series_of_run ON series (run, name, attempt, incarnation, rank);
CREATE TABLE point (
  series INTEGER NOT NULL, step INTEGER NOT NULL, time INTEGER NOT NULL, is_nan INTEGER NOT NULL,
  value REAL NOT NULL, PRIMARY KEY (series, step, time, is_nan, value)) STRICT, WITHOUT ROWID;
CREATE TABLE latest (
  run INTEGER NOT NULL, name TEXT NOT NULL, attempt INTEGER NOT NULL, incarnation INTEGER NOT NULL,
  step INTEGER NOT NULL, time INTEGER NOT NULL, is_nan INTEGER NOT NULL, value REAL NOT NULL,
  least REAL, least_step INTEGER NOT NULL, greatest REAL, greatest_step INTEGER NOT NULL,
  PRIMARY KEY (run, name)) STRICT, WITHOUT ROWID;
CREATE TABLE text (
  run INTEGER NOT NULL, kind INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (run, kind, key)) STRICT, WITHOUT ROWID;
CREATE TABLE source (
  run INTEGER NOT NULL, source TEXT NOT NULL, offset INTEGER NOT NULL, state TEXT NOT NULL,
  PRIMARY KEY (run, source)) STRICT, WITHOUT ROWID;
)";

constexpr launcher::Schema kSchema{0x4c4b4d31, 1, "a store of metrics", kTables};  // "LKM1"

}  // namespace

Result<Database> open_tables(const std::string& path) {
  TRY_ASSIGN(auto db, Database::open(path));
  // Purged pages go back to the file system; it must be said before there is a table.
  TRY(db.execute("PRAGMA auto_vacuum = INCREMENTAL"));
  TRY(launcher::open_schema(db, kSchema));
  TRY(db.add_test("ls_like", like));
  TRY(db.add_test("ls_ilike", ilike));
  return db;
}

}  // namespace lockstep::metrics
