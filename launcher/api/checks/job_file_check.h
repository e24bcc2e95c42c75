#pragma once
// Checks a job file that a client sent, in two steps. parse() uses launcher/files, depends on the
// text alone and may take a while, so it runs on another thread. check_job_file() then compares the
// result with what the launcher knows, on the event loop. Neither changes anything.

#include <functional>
#include <map>
#include <set>
#include <string>

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/checks/mapped_images.h"
#include "launcher/core/core.h"
#include "launcher/files/data/datastores_file.h"
#include "launcher/files/job_file.h"

namespace lockstep::launcher {

// Parses the job file of the request, or takes the job that came without one. Pure. Besides the
// limits of launcher/files, the two limits below apply to all reads of the files that the job file
// names, because files may include each other repeatedly.
spec::JobFileReading parse(const CheckJobFile& request);
inline constexpr std::size_t kMaxJobFileReads = 1'000;
inline constexpr std::size_t kMaxJobFileReadBytes = 16u << 20;

// The data outside State that a check needs. show_environment refuses an environment that the
// caller may not see.
struct JobFileLookups {
  std::function<ClientReply(const std::string& reference)> show_environment;
  std::function<Status(const std::set<std::string>& names)> expect_secrets;
  // Finds a datastore for a job of this project.
  std::function<Result<spec::Datastore>(const std::string& project, const std::string& name)>
      find_datastore;
  FindMappedImages mapped_images;
  // Finds the datastores of the job's outputs, and of its steps'.
  std::function<Status(JobSpec& spec)> place_outputs = [](JobSpec&) { return Status(); };
};

struct JobFileToCheck {
  std::string name;              // the file's name, for errors; "": the job has no file
  bool wait_anyway = false;      // the same field as in Submit
  bool faults_are_said = false;  // the same field as in CheckJobFile
};
// Returns the parser's errors if there are any, and otherwise every reason for which the launcher
// would refuse a submission of this job. If the parser's errors are said already: the reasons that
// can be known from what was read beside them.
JobFileChecked check_job_file(const Core& core, const Caller& caller, const JobFileLookups& lookups,
                              const JobFileToCheck& what, spec::JobFileReading parsed);

// Returns resource_exhausted if a submission's environment_variables exceed kMaxVariablesBytes.
Status check_variables_size(const std::map<std::string, std::string>& variables);

}  // namespace lockstep::launcher
