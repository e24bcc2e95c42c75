#pragma once
// How many bytes of logs the launcher has from parts that have not ended. The final report of a
// part has this number and becomes a fact. Starts empty in each launcher process, and is filled as
// logs arrive.

#include <cstdint>
#include <map>
#include <utility>

#include "common/base/ids.h"
#include "launcher/state/people/usage.h"

namespace lockstep::launcher {

class LiveLogs {
 public:
  void set(const AttemptId& attempt, NodeId node, const QuotaHolders& holders,
           std::uint64_t bytes) {
    forget(attempt, node);
    parts_[{attempt, node}] = {holders, bytes};
    for (const QuotaHolder& holder : holders) sums_[holder] += bytes;
  }
  void forget(const AttemptId& attempt, NodeId node) {
    const auto part = parts_.find({attempt, node});
    if (part == parts_.end()) return;
    for (const QuotaHolder& holder : part->second.holders) {
      const auto sum = sums_.find(holder);
      sum->second -= part->second.bytes;
      if (sum->second == 0) sums_.erase(sum);
    }
    parts_.erase(part);
  }
  std::uint64_t of(const QuotaHolder& holder) const {
    const auto sum = sums_.find(holder);
    return sum == sums_.end() ? 0 : sum->second;
  }

 private:
  struct Part {
    QuotaHolders holders;
    std::uint64_t bytes = 0;
  };
  std::map<std::pair<AttemptId, NodeId>, Part> parts_;
  std::map<QuotaHolder, std::uint64_t> sums_;
};

}  // namespace lockstep::launcher
