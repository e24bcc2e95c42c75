#pragma once
// Whose numbers they are. Every job is a run, of the job's name; a program may begin more runs
// inside of its job (MLflow's nested runs), which are named after it with a dot.

#include <optional>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/base/word.h"
#include "common/domain/job/job_status.h"

namespace lockstep::metrics {

using RunId = Id<struct RunIdTag, std::string>;  // "gray_pig", or "gray_pig.4f1c" inside of it

// The job of a valid run. Names of jobs have no dots.
JobId job_of(const RunId& run);
inline RunId run_of(const JobId& job) { return RunId(job.value); }
bool is_inside_job(const RunId& run);

// A job's name, and perhaps a dot and 1 to kMaxInnerNameBytes of [A-Za-z0-9_-].
Status validate(const RunId& run);
inline constexpr std::size_t kMaxInnerNameBytes = 64;

// MLflow's words.
enum class RunStatus { scheduled, running, finished, failed, killed };
Word describe(RunStatus status);
std::string_view to_string(RunStatus status);  // "SCHEDULED", …
std::optional<RunStatus> run_status_from(std::string_view word);
RunStatus run_status_of(JobStatus status);

// What a search knows of a run besides its numbers. Of a job this is a copy: the launcher's core
// has the truth, and tells each change.
struct RunInfo {
  RunId run;
  std::string experiment;
  std::string title;  // MLflow's run_name
  RunStatus status = RunStatus::scheduled;
  Instant started, ended;  // ns = 0: not yet
  bool deleted = false;    // MLflow's lifecycle stage; of a job: it is archived
  // Of a job's own run alone; runs inside of it have the same.
  std::string owner = {};  // never changes
  std::string project = {};
  bool shared = false;  // the members of its project may read it
  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

}  // namespace lockstep::metrics
