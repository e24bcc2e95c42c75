#pragma once
// Checks a job file without submitting it. Parsing (launcher/spec) may take a while, so it is a
// function of the text alone and runs on another thread; the launcher's state is compared
// afterwards, on the loop. Nothing changes.

#include <functional>
#include <map>
#include <set>
#include <string>

#include "common/domain/client_messages.h"
#include "launcher/core/core.h"
#include "launcher/spec/job_file.h"

namespace lockstep::launcher {

// Parses the job file of the request. Pure. Besides the limits of launcher/spec, the two limits
// below apply to all reads of the files that the job file names, because files may include each
// other repeatedly.
Result<spec::JobFile> parse(const CheckJobFile& request);
inline constexpr std::size_t kMaxJobFileReads = 1'000;
inline constexpr std::size_t kMaxJobFileReadBytes = 16u << 20;

// What the launcher knows that State does not have.
struct JobFileLookups {
  std::function<ClientReply(const std::string& reference)> show_environment;  // if they may see it
  std::function<Status(const std::set<std::string>& names)> expect_secrets;
};

// `name`: of the file. Of what parsing gave: the same error, or all that a submission would be
// refused for.
JobFileChecked check_job_file(const Core& core, const Caller& caller, const JobFileLookups& lookups,
                              const std::string& name, Result<spec::JobFile> parsed);

// Of a submission's environment_variables.
Status check_variables_size(const std::map<std::string, std::string>& variables);

}  // namespace lockstep::launcher
