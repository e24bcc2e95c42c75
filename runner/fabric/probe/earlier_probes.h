#pragma once
// What earlier probes found, in a folder of the agent of node rank 0: a gang of the same nodes,
// none of which was booted or got another address or route since, need not be probed again. An
// entry is valid for kProbeCachedFor, and is dropped when a gang that used it fails. It is only a
// cache: whatever is wrong with it counts as nothing.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/fabric/probe/choice.h"

namespace lockstep::runner {

inline constexpr Duration kProbeCachedFor = std::chrono::hours(1);
inline constexpr std::size_t kMostCachedProbes = 64;

// The same for gangs of the same nodes in another order, except for the first, whose port all
// others use. `kind`: of the distribution, on which the ports depend that were dialled.
struct ProbeCacheKey {
  std::string name;
  std::vector<int> order;  // node ranks, as the entry counts them
};
ProbeCacheKey probe_cache_key(std::string_view kind, const std::vector<ProbedNode>& nodes);

// An entry for these nodes from an outcome, and back. nullopt: it is of other addresses.
ProbeOutcome in_cache_order(const ProbeCacheKey& key, ProbeOutcome outcome);
std::optional<ProbeOutcome> from_cache_order(const ProbeCacheKey& key, ProbeOutcome entry,
                                             const std::vector<ProbedNode>& nodes);

class ProbeCache {
 public:
  // "": there is none. The folder is made when something is kept.
  explicit ProbeCache(std::string folder) : folder_(std::move(folder)) {}

  std::optional<ProbeOutcome> find(const ProbeCacheKey& key,
                                   const std::vector<ProbedNode>& nodes) const;
  void keep(const ProbeCacheKey& key, const ProbeOutcome& outcome) const;
  // The file of an entry, for forget_probe(); "": there is no cache.
  std::string path(const ProbeCacheKey& key) const {
    return folder_.empty() ? "" : folder_ + "/" + key.name;
  }

 private:
  std::string folder_;
};

void forget_probe(const std::string& path);

}  // namespace lockstep::runner
