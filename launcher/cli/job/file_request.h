#pragma once
// A job file as it is read here, together with what the launcher needs to check it: its text and
// the files that it names.

#include <string>
#include <vector>

#include "common/domain/messages/job_check.h"
#include "launcher/cli/base/client_settings.h"
#include "launcher/cli/base/verb_context.h"
#include "launcher/cli/job/flags.h"
#include "launcher/files/job_file.h"

namespace lockstep::cli {

struct ReadJobFile {
  CheckJobFile request;
  Result<spec::JobFile> parsed;
  std::vector<FlagOverride> flags = {};  // flags among the request's overrides
};

// Reads `path` ("-": standard input) with the overrides of --set and of the flags. `find` may be
// empty: then a registered component is an error.
ReadJobFile read_job_file(const std::string& path, const std::vector<std::string>& overrides,
                          const JobFlags& flags, const spec::FindComponent& find);

// Adds another flag that overrides the file which the launcher is asked about.
void add_override(ReadJobFile& file, std::string assignment, std::string flag);

// The target that the user's settings name, where the job file names none.
void override_compute(ReadJobFile& file, const ComputeChoice& target);

// Asks for everything for which the launcher would refuse the file.
Result<JobFileChecked> ask_to_check(Connection& connection, const ReadJobFile& file);

// Prints why the launcher refused the job: all that it finds wrong with the file, a line each, or
// else `refusal` alone. Returns `code`.
int fail_with_all_of(Context& context, Connection& connection, const ReadJobFile& file,
                     const Error& refusal, int code);
// The same for a job without a file (`job.spec`).
int fail_with_all_of(Context& context, Connection& connection, const CheckJobFile& job,
                     const Error& refusal, int code);

// The faults that a launcher finds in a file, or in a job without one, beside the faults that are
// known here. Empty unless a launcher is up and answers soon; a faulty file starts none.
std::vector<std::string> faults_at_launcher(Context& context, ReadJobFile file);
std::vector<std::string> faults_at_launcher(Context& context, CheckJobFile job);

// Prints the faults of a file, of its flags, and those that the launcher finds, a line each;
// returns kExitUsage.
int fail_with_faults(Context& context, const ReadJobFile& file, const Status& of_flags);

}  // namespace lockstep::cli
