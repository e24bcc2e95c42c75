#pragma once
// `@last`: the caller's newest job, wherever a verb takes the name of a job.

#include <string>
#include <vector>

#include "launcher/cli/context.h"

namespace lockstep::cli {

// Whether words before "--" name it: "@last", "--after=prep,@last:ended", "@last/3".
bool names_last_job(const std::vector<std::string>& words);
// The same words with the job's name.
std::vector<std::string> with_last_job(std::vector<std::string> words, const std::string& name);

// Of the jobs that the caller submitted the newest that is of no pipeline's step. not_found: none.
Result<std::string> last_job(const Context& context);

}  // namespace lockstep::cli
