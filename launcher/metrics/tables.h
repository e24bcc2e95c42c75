#pragma once
// The tables of the store of metrics, and opening them. Only launcher/metrics uses it.
//
//   job     one row per job: whose it is, and what its runs take
//   owner   how many points the jobs of a user have
//   run     a job's own run, and those inside of it
//   series  the points of one metric by one rank of one attempt; `run` < 0: removed, to be purged
//   point   the set of points of each series. NaN is is_nan = 1 and value = 0
//   latest  by run and metric: the newest point of the newest attempt, the least and the greatest
//   text    params and tags
//   source  SourceMark

#include <string>

#include "common/base/result.h"
#include "launcher/sqlite/bind.h"
#include "launcher/sqlite/database.h"

namespace lockstep::metrics {

using launcher::bind_values;
using launcher::Database;
using launcher::ResetAtEnd;
using launcher::Statement;
using launcher::Transaction;

enum class TextKind { param = 0, tag = 1 };

// Creates the file and its tables where they are missing, and adds the functions ls_like and
// ls_ilike to SQL. Errors as open_schema().
Result<Database> open_tables(const std::string& path);

}  // namespace lockstep::metrics
