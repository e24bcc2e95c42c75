#pragma once
// Converts the filter options of `job list` to the JobFilter that the launcher evaluates. Pure.

#include <string>
#include <vector>

#include "common/domain/messages/client_protocol.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

struct JobFilterWords {
  bool mine = false;
  bool archived_only = false, include_archived = false;
  std::vector<std::string> statuses;  // each may list several, with commas; upper or lower case
  std::string experiment, user, since;
  std::string parent;             // a pipeline, or a job that submitted others
  std::vector<std::string> tags;  // K or K=V
};

std::vector<JobStatus> all_statuses();

void add_job_filters(CLI::App& verb, JobFilterWords& words);

// Reads a filter. An error names the option; an error about an unknown status lists all statuses.
Result<JobFilter> read_job_filter(const JobFilterWords& words, Instant now);

}  // namespace lockstep::cli
