#pragma once
// Whose database a file is, and of which version: SQLite's application_id and user_version. The
// journal has rules of its own (launcher/store/journal_file.h), because it cannot be made again.

#include <cstdint>

#include "common/base/result.h"
#include "launcher/sqlite/database.h"

namespace lockstep::launcher {

struct Schema {
  std::int64_t application = 0;  // four letters, to tell it from other databases
  std::int64_t version = 1;      // increased when an older program could not use the file
  const char* what = "";         // "a store of metrics"
  const char* tables = "";       // SQL that makes them in an empty database
};

// Makes the tables where there are none, and sets the pragmas of a store that is written by one
// connection and read by others: WAL, and syncs at checkpoints alone. So a kill of the process
// loses no commit, and a power cut loses those since the last checkpoint and damages nothing.
// corrupt: the file is another database, or not one at all. unsupported: a newer version made it;
// the message names both.
Status open_schema(Database& db, const Schema& schema);

// Moves what was committed into the database's file, and syncs it. What other connections still
// read stays in the WAL until the next call.
Status checkpoint_wal(Database& db);

}  // namespace lockstep::launcher
