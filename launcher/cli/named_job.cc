#include "launcher/cli/named_job.h"

#include "launcher/cli/step_choice.h"

namespace lockstep::cli {

Result<JobId> named_job(Connection& connection, const std::string& verb, const std::string& word) {
  const auto slash = word.find('/');
  if (slash == word.npos) return JobId(word);
  TRY_ASSIGN(const JobReply whole,
             connection.ask_for<JobReply>(ShowJob{JobId(word.substr(0, slash))}));
  return job_of_step(verb, whole.job, word.substr(slash + 1));
}

}  // namespace lockstep::cli
