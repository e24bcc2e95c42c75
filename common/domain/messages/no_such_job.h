#pragma once
// The one error for a job that does not exist.

#include "common/base/ids.h"
#include "common/base/result.h"

namespace lockstep {

inline Error no_such_job(const JobId& job) {
  std::string message = "there is no job '" + job.value + "'; `lockstep job list` shows all";
  std::string of_step = job.value;
  for (char& c : of_step)
    if (c == '.' || c == '/') c = '_';
  if (of_step != job.value)
    message += "; a pipeline's step runs as the job PIPELINE_STEP, here '" + of_step + "'";
  return make_error(ErrorCode::not_found, message);
}

}  // namespace lockstep
