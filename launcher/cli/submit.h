#pragma once
// A job on its way to the launcher: captures the source directory (and sends while it
// does), submits, uploads what the launcher still lacks, submits again. The same submission key
// throughout, so that a repeat makes no second job.

#include <optional>
#include <string>

#include "common/domain/job_spec.h"
#include "launcher/cli/context.h"

namespace lockstep::cli {

struct Submission {
  JobSpec spec;                          // without snapshot; run_as is the launcher's to fill
  std::optional<std::string> directory;  // absent: the job starts in an empty one
  bool directory_was_named = false;      // $HOME and / are captured only then
  bool rebuild = false;                  // its environment is solved and built anew
};

// Interrupts end us until the job exists, and are held from then on.
Result<JobId> submit(Context& context, Connection& connection, Submission submission);

}  // namespace lockstep::cli
