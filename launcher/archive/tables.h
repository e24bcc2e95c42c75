#pragma once
// The tables of the archive, and opening them. Only launcher/archive uses it.
//
//   job         one row per job that has ended and was not deleted
//   tag         its tags
//   detail      what lists do not show: its description, and the digest of its definition
//   definition  the bytes of each definition, and how many jobs have it
//   accounting  what was held and used: by day, owner, project and target
//   mark        one row: which of the journal's facts all of this is made of

#include <optional>
#include <string>
#include <string_view>

#include "launcher/archive/ended_job.h"
#include "launcher/sqlite/bind.h"
#include "launcher/sqlite/database.h"
#include "launcher/store/journal_position.h"

namespace lockstep::archive {

using launcher::bind_values;
using launcher::Database;
using launcher::JournalPosition;
using launcher::ResetAtEnd;
using launcher::Statement;
using launcher::Transaction;

// Creates the file and its tables where they are missing. Errors as open_schema().
Result<Database> open_tables(const std::string& path);

// nullopt: nothing was archived yet. corrupt: the row is damaged.
Result<std::optional<JournalPosition>> read_mark(Database& db);

// The columns of a job, for info_in(); the table is called `job`.
inline constexpr const char* kJobColumns =
    "job.jorder, job.name, job.status, job.owner, job.project, job.experiment, job.title, "
    "job.target, job.parent, job.step, job.archived, job.shared, job.submitted, job.started, "
    "job.ended, job.nodes, job.attempts, job.cause, job.why";
// Without its tags, details and reason. corrupt: a value is none that is written there.
Result<EndedJob> job_in(const Statement& row);
// The last of kJobColumns, which takes longer to decode than all others.
inline std::string_view why_in(const Statement& row) { return row.blob(18); }
Status set_why(EndedJob& job, std::string_view bytes);

}  // namespace lockstep::archive
