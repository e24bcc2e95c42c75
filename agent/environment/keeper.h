#pragma once
// Keeps the environments of this node below a limit: what was not used for longest goes first.
// Never what an attempt directory that still exists names, nor what is at work. For worker threads.

#include <mutex>
#include <set>
#include <string>

#include "agent/environment/cache.h"
#include "common/base/bytes.h"

namespace lockstep::agent {

class EnvironmentKeeper {
 public:
  // `attempts`: the directory of the attempts' directories. `limit`: 0 = none.
  EnvironmentKeeper(const EnvironmentCache& cache, std::string attempts, Bytes limit)
      : cache_(cache), attempts_(std::move(attempts)), limit_(limit) {}

  // What an earlier agent left half built, or half removed.
  void clean();
  // Does nothing while another thread is at it.
  void keep();
  // What was not used since.
  void prune(Instant since);

 private:
  std::set<std::string> names_in_use() const;
  bool is_in_use(const std::string& name) const;
  bool remove(const EnvironmentCache::Item& item, std::string_view why);

  const EnvironmentCache& cache_;
  const std::string attempts_;
  const Bytes limit_;
  std::mutex mutex_;
};

}  // namespace lockstep::agent
