#pragma once
// A finding among the ranks of a gang as a reason has it: with the names of its nodes, and small
// however many ranks wait.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/fields.h"
#include "common/base/time.h"
#include "common/domain/ranks/found.h"

namespace lockstep {

struct RankSpan {
  int first = 0, last = 0;
  LOCKSTEP_FIELDS(RankSpan, first, last);
};

struct RankedNode {
  int node_rank = 0;
  std::string name;
  LOCKSTEP_FIELDS(RankedNode, node_rank, name);
};

struct NamedFound {
  std::string job;  // the job's name, for commands
  FoundKind kind = FoundKind::waits;
  FoundVerdict verdict = FoundVerdict::notice;
  FoundAbout about = FoundAbout::named;
  std::vector<FoundRank> ranks = {};
  std::vector<RankSpan> waiting = {};  // the waiting ranks in order; at most kMaxWaitingSpans
  int more_waiting = 0;                // the number of waiting ranks after those
  Duration lasting{0};
  std::string fact = {};
  std::int64_t here = 0, elsewhere = 0;
  std::vector<RankedNode> nodes = {};  // the nodes of `ranks`, and of the first rank if stacks are
                                       // kept
  int stacks_of_attempt = 0;           // the attempt whose stacks are kept; 0: none are
  LOCKSTEP_FIELDS(NamedFound, job, kind, verdict, about, ranks, waiting, more_waiting, lasting,
                  fact, here, elsewhere, nodes, stacks_of_attempt);
};
inline constexpr std::size_t kMaxWaitingSpans = 128;

// Names the nodes of a finding. `node_of`: a node's name by its rank in the gang.
NamedFound named(const Found& found, std::string job, int stacks_of_attempt,
                 const std::function<std::string(int)>& node_of);
// The finding of a reason, without `since`. Of the ranks in `more_waiting` only the number is true.
Found found_of(const NamedFound& named);

}  // namespace lockstep
