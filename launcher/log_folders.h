#pragma once
// Which folders below logs/ belong to jobs that there are.

#include <algorithm>
#include <string>

#include "launcher/core/state.h"
#include "launcher/logs/log_store.h"

namespace lockstep::launcher {

// logs/<job>/<attempt>, by these names.
inline bool has_log_folder(const State& state, const std::string& job, const std::string& attempt) {
  const Job* known = state.job(JobId(job));
  return known != nullptr &&
         std::any_of(known->attempts.begin(), known->attempts.end(),
                     [&](const Attempt& one) { return LogStore::name_of(one.id) == attempt; });
}

}  // namespace lockstep::launcher
