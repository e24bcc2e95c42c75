#pragma once
// The job that a word of the command line names: NAME, or NAME/STEP for the job of a pipeline's
// step or of an array's task (sweep/3).

#include <string>

#include "common/base/result.h"
#include "launcher/cli/connection.h"

namespace lockstep::cli {

// Asks the launcher only for NAME/STEP. invalid_argument: NAME has no such step; the message begins
// with `verb`, and names those that there are.
Result<JobId> named_job(Connection& connection, const std::string& verb, const std::string& word);

}  // namespace lockstep::cli
