#pragma once
// Submits a job: captures the source directories, build contexts of images and data of the job and
// its steps, and uploads while it captures; submits; uploads what the launcher still misses;
// submits again. A folder that several steps share is captured once. All submissions use the same
// submission key, so that a repeat makes no second job.

#include <optional>
#include <string>

#include "common/domain/data/asset.h"
#include "common/domain/job/spec.h"
#include "common/snapshot/capture/capture.h"
#include "launcher/cli/base/verb_context.h"
#include "launcher/files/data/input_reader.h"
#include "launcher/files/environment/build_folder.h"

namespace lockstep::cli {

// Long, because the launcher walks all trees of the submission before it answers.
inline constexpr Duration kSubmitTimeout = seconds(60);

// The files that a step of a pipeline takes from this machine.
struct StepSubmission {
  std::optional<std::string> directory;
  std::optional<spec::BuildFolder> build = {};
  std::vector<spec::LocalData> data = {};
  bool directory_was_named = true;
  std::vector<std::string> includes = {};  // files and folders that come into the directory
  snapshot::Links links = snapshot::Links::follow;
};

struct Submission {
  JobSpec spec;                          // without snapshot; the launcher fills run_as
  std::optional<std::string> directory;  // absent: the job starts in an empty one
  bool directory_was_named = false;      // $HOME and / are captured only if named
  bool rebuild = false;                  // solve and build its environment again
  // The build context of its image; `spec` does not have its digest yet.
  std::optional<spec::BuildFolder> build = {};
  std::vector<spec::LocalData> data = {};  // folders and files to capture for inputs of `spec`
  bool quiet = false;                      // does not print `note` and the launcher's notes
  std::string note = {};                   // printed once the launcher has accepted the job
  bool waits = false;                      // the job's end is waited for
  bool wait_anyway = false;                // taken also where it waits in vain
  // The files of the pipeline's steps, in their order; empty: they take nothing from this machine.
  std::vector<StepSubmission> steps = {};
  std::vector<std::string> includes = {};           // the same field as in StepSubmission
  snapshot::Links links = snapshot::Links::follow;  // for its directory, includes and data
};

// Interrupts end the process until the job exists, and are blocked from then on.
Result<JobId> submit(Context& context, Connection& connection, Submission submission);

// Captures the whole build context of an image, uploads it, and sets its digest in `environment`.
Status send_build(Context& context, Connection& connection, const spec::BuildFolder& build,
                  EnvironmentSpec& environment);

// Captures a source folder, or files (`file`: the one file of its path; "": the path is a folder),
// and uploads them.
Result<snapshot::Snapshot> send_source(Context& context, Connection& connection,
                                       const std::string& folder);
Result<snapshot::Snapshot> send_data(Context& context, Connection& connection,
                                     const std::string& path, const std::string& file);

// Captures the files of an asset, uploads them, and sets their digest in `asset`.
Status send_files(Context& context, Connection& connection, const spec::LocalData& local,
                  RegisteredAsset& asset);

}  // namespace lockstep::cli
