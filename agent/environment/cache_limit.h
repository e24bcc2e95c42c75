#pragma once
// Keeps this node's environments below a size limit by removing the least recently used first. An
// environment is kept while an attempt directory names it, or a build or solve works in it. For
// worker threads.

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "agent/environment/cache.h"
#include "common/base/bytes.h"

namespace lockstep::agent {

class EnvironmentCacheLimit {
 public:
  // `attempts`: the directory that holds the attempt directories. `limit`: 0 = none.
  EnvironmentCacheLimit(const EnvironmentCache& cache, std::string attempts, Bytes limit)
      : cache_(cache), attempts_(std::move(attempts)), limit_(limit) {}

  // Removes entries that an earlier agent left half built or half removed.
  void clean();
  // Enforces the limit. If another thread is doing that, it repeats its check instead.
  void keep();
  // Removes entries not used since `since`. prune_skipped() removes those that are in use now once
  // they no longer are, unless they are used again.
  void prune(Instant since);
  // Removes entries that were in use before; cheap, so call it often.
  void prune_skipped();

 private:
  std::set<std::string> names_in_use() const;
  bool is_in_use(const std::string& name) const;
  bool remove(const EnvironmentCache::Item& item, std::string_view why);
  void keep_what_is_wanted();
  void keep_below_limit();

  const EnvironmentCache& cache_;
  const std::string attempts_;
  const Bytes limit_;
  std::mutex mutex_;
  std::vector<EnvironmentCache::Item> skipped_;  // by prune(); guarded by mutex_
  std::atomic<bool> wanted_ = false;             // a keep() is still to be done
};

}  // namespace lockstep::agent
