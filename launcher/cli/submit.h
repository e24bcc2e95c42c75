#pragma once
// A job on its way to the launcher: captures the source directory and what an image is built from
// (and sends while it does), submits, uploads what the launcher still lacks, submits again. The
// same submission key throughout, so that a repeat makes no second job.

#include <optional>
#include <string>

#include "common/domain/job_spec.h"
#include "launcher/cli/context.h"
#include "launcher/spec/build_folder.h"

namespace lockstep::cli {

// The launcher looks through the trees of what is submitted.
inline constexpr Duration kSubmitTimeout = seconds(60);

struct Submission {
  JobSpec spec;                          // without snapshot; run_as is the launcher's to fill
  std::optional<std::string> directory;  // absent: the job starts in an empty one
  bool directory_was_named = false;      // $HOME and / are captured only then
  bool rebuild = false;                  // its environment is solved and built anew
  // What its image is built from; the spec lacks its digest.
  std::optional<spec::BuildFolder> build = {};
};

// Interrupts end us until the job exists, and are held from then on.
Result<JobId> submit(Context& context, Connection& connection, Submission submission);

// Captures what an image is built from, all of it, and sends it; the definition gets its digest.
Status send_build(Context& context, Connection& connection, const spec::BuildFolder& build,
                  EnvironmentSpec& environment);

}  // namespace lockstep::cli
