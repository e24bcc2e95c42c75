#pragma once
// The one answer to whoever names a job that does not exist.

#include "common/base/ids.h"
#include "common/base/result.h"

namespace lockstep {

inline Error no_such_job(const JobId& job) {
  return make_error(ErrorCode::not_found,
                    "there is no job '" + job.value + "'; `lockstep job list` shows all");
}

}  // namespace lockstep
