#pragma once
// Which folders below logs/ belong to jobs that there are, or that were deleted.

#include <algorithm>
#include <string>

#include "launcher/core/state.h"
#include "launcher/logs/log_store.h"

namespace lockstep::launcher {

// deleted: of a job that the state knows to be gone, or no longer has to know. unknown: the state
// never heard of it, so what it knew was lost, and these logs may be all that is left of a job.
enum class LogFolderOwner { job, deleted, unknown };

// Of logs/<job>/<attempt>, by these names.
inline LogFolderOwner owner_of_log_folder(const State& state, const std::string& job,
                                          const std::string& attempt) {
  const Job* known = state.job(JobId(job));
  if (known == nullptr) {
    const DeletedJobs& deleted = state.deleted();
    return deleted.is_full() || deleted.last().count(JobId(job)) > 0 ? LogFolderOwner::deleted
                                                                     : LogFolderOwner::unknown;
  }
  const bool has =
      std::any_of(known->attempts.begin(), known->attempts.end(),
                  [&](const Attempt& one) { return LogStore::name_of(one.id) == attempt; });
  return has ? LogFolderOwner::job : LogFolderOwner::deleted;
}

}  // namespace lockstep::launcher
