#pragma once
// The filters of `job list`, from words of the command line to the question that the launcher
// answers. Pure.

#include <string>
#include <vector>

#include "common/domain/client_messages.h"

namespace CLI {
class App;
}

namespace lockstep::cli {

struct JobFilterWords {
  bool mine = false;
  std::vector<std::string> statuses;  // each may be several, with commas; in any case
  std::string experiment, user, since;
  std::vector<std::string> tags;  // K or K=V
};

void add_job_filters(CLI::App& verb, JobFilterWords& words);

// An error names the option; of an unknown status it lists them all.
Result<JobFilter> read_job_filter(const JobFilterWords& words, Instant now);

}  // namespace lockstep::cli
