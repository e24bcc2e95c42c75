#pragma once
// The job that the command line of `run` describes, from its flags to its submission.

#include <optional>
#include <vector>

#include "common/domain/messages/job_check.h"
#include "launcher/cli/base/client_settings.h"
#include "launcher/cli/base/verb_context.h"
#include "launcher/cli/job/run_spec.h"
#include "launcher/cli/submit/submit.h"
#include "launcher/files/yaml/faults.h"

namespace lockstep::cli {

struct RunJob {
  JobSpec spec;  // with --array, the spec of one task
  std::vector<spec::LocalData> data;
  std::optional<ArraySpec> array;
  std::optional<spec::EnvironmentChoice> environment;  // `spec` does not have it yet
  std::optional<spec::BuildFolder> build;  // the build folder of the resolved environment
  ComputeChoice target;
  spec::Notes notes;
};

// Reads the job. All faults in the flags, and in the files that they name, are added to `errors`,
// some of which have several lines (faults.h).
RunJob read_job(Context& context, const RunArguments& arguments, std::vector<Error>& errors);

// The question whether the launcher would take the job.
CheckJobFile question_of(const RunArguments& arguments, const RunJob& job);

Submission submission_of(const RunArguments& arguments, RunJob job);

}  // namespace lockstep::cli
