#pragma once
// Tells for each folder below logs/ whether its job exists, was deleted, or is unknown.

#include <algorithm>
#include <string>

#include "launcher/logs/log_store.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// The owner of a folder of logs. deleted: the state knows that the job or attempt was deleted, or
// may have forgotten the deletion (it remembers a bounded number). unknown: the state has no trace
// of the job, so facts were lost, and these logs may be all that is left of it.
enum class LogFolderOwner { job, deleted, unknown };

// The owner of logs/<job>/<attempt>; `job` and `attempt` are the names of these folders.
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
