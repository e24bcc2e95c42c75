#include "launcher/words/job_text.h"

#include "common/domain/why/all/redact.h"

namespace lockstep::words {

namespace {

std::string or_hidden(const JobId& job, std::string text) {
  const auto hidden = as_hidden(job);
  if (!hidden) return text;
  return *hidden == HiddenJob::any ? "another job" : "a job of another project";
}

}  // namespace

std::string job_text(const JobId& job) { return or_hidden(job, "job '" + job.value + "'"); }

std::string unquoted_job_text(const JobId& job) { return or_hidden(job, "job " + job.value); }

std::string pipeline_text(const JobId& job) { return or_hidden(job, "pipeline " + job.value); }

std::string attempt_text(const AttemptId& attempt) {
  return or_hidden(attempt.job, to_string(attempt));
}

}  // namespace lockstep::words
