#include "launcher/sqlite/schema.h"

#include <fmt/format.h>

namespace lockstep::launcher {

namespace {

// Another process may read for a moment: a backup, or a person with sqlite3.
constexpr const char* kStorePragmas =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000";

Status make_tables(Database& db, const Schema& schema) {
  TRY_ASSIGN(auto transaction, Transaction::begin(db));
  // Somebody else may have made them meanwhile.
  TRY_ASSIGN(const auto tables, db.number("SELECT count(*) FROM sqlite_master"));
  if (tables != 0) return {};
  TRY(db.execute(schema.tables));
  const std::string numbers = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                          schema.application, schema.version);
  TRY(db.execute(numbers.c_str()));
  return transaction.commit();
}

}  // namespace

Status open_schema(Database& db, const Schema& schema) {
  TRY(db.execute(kStorePragmas));
  TRY_ASSIGN(const auto tables, db.number("SELECT count(*) FROM sqlite_master"));
  if (tables == 0) TRY(make_tables(db, schema));
  TRY_ASSIGN(const auto application, db.number("PRAGMA application_id"));
  TRY_ASSIGN(const auto version, db.number("PRAGMA user_version"));
  if (application != schema.application || version < 1)
    return make_error(ErrorCode::corrupt,
                      fmt::format("{}: is a database, but not {}", db.path(), schema.what));
  if (version > schema.version)
    return make_error(
        ErrorCode::unsupported,
        fmt::format("{}: is {} of a newer Lockstep (version {} of its tables, this "
                    "program, " LOCKSTEP_VERSION ", reads up to {}); start that version",
                    db.path(), schema.what, version, schema.version));
  return {};
}

Status checkpoint_wal(Database& db) {
  TRY_ASSIGN(auto done, db.prepare("PRAGMA wal_checkpoint(PASSIVE)"));
  return done.run();
}

}  // namespace lockstep::launcher
