#pragma once
// The files of a database as one thing: `path`, and what SQLite lays beside it (-wal, -shm,
// -journal). Only for databases that nobody has open.

#include <string>

#include "common/base/result.h"

namespace lockstep::launcher {

Status remove_database(const std::string& path);  // missing files are no error

// Keeps a damaged database for people to look at, as `<path>.damaged`, which is returned. One that
// was kept there before is removed.
Result<std::string> set_aside(const std::string& path);

// Durably puts the database `from`, which must have no WAL, in the place of `to`. A crash leaves
// either whole.
Status replace_database(const std::string& from, const std::string& to);

}  // namespace lockstep::launcher
