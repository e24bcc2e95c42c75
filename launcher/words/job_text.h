#pragma once
// Jobs and attempts that a reason names. One whose name the reader may not know
// (common/domain/why/all/redact.h) is "a job of another project", or "another job".

#include <string>

#include "common/base/ids.h"

namespace lockstep::words {

std::string job_text(const JobId& job);              // "job 'a'"
std::string unquoted_job_text(const JobId& job);     // "job a"
std::string pipeline_text(const JobId& job);         // "pipeline a"
std::string attempt_text(const AttemptId& attempt);  // "a.1"

}  // namespace lockstep::words
