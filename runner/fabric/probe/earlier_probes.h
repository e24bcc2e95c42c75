#pragma once
// The results of earlier probes, in a folder of the agent of node rank 0. A gang of the same nodes
// is not probed again, unless one of them was booted or got another address or route since. An
// entry is valid for kProbeCachedFor, and is dropped when a gang that used it fails. It is only a
// cache: a damaged entry counts as missing.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/fabric/probe/choice.h"

namespace lockstep::runner {

inline constexpr Duration kProbeCachedFor = std::chrono::hours(1);
inline constexpr std::size_t kMostCachedProbes = 64;

// The key of a probe, equal for gangs of the same nodes in any order, except for the first node, to
// whose port all others connect. `kind`: the distribution of the job, on which the dialled ports
// depend.
struct ProbeCacheKey {
  std::string name;
  std::vector<int> order;  // node ranks, as the entry counts them
};
ProbeCacheKey probe_cache_key(std::string_view kind, const std::vector<ProbedNode>& nodes);

// Turns an outcome into an entry for these nodes, and back. nullopt: the entry is for other
// addresses.
ProbeOutcome in_cache_order(const ProbeCacheKey& key, ProbeOutcome outcome);
std::optional<ProbeOutcome> from_cache_order(const ProbeCacheKey& key, ProbeOutcome entry,
                                             const std::vector<ProbedNode>& nodes);

class ProbeCache {
 public:
  // "": there is no cache. The folder is made when the first entry is written.
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
