#pragma once
// How fast the ranks of a gang are, compared: a node adds up the samples of a minute to one pace a
// rank, and node rank 0 finds those beyond 1.5 times the median. Pure.

#include <map>
#include <optional>
#include <vector>

#include "common/domain/runners/watch_protocol.h"
#include "runner/watch/compare/evidence.h"

namespace lockstep::runner {

// Adds up the samples of the ranks of one node.
class PaceMeter {
 public:
  void add(const RankStandings& standings);
  // The ranks whose minute is over.
  std::vector<RankPace> take();

 private:
  struct Minute {
    RankStanding first, last;
    int samples = 0, waiting = 0, moving = 0;
    std::int64_t cpu_milli = 0;  // sums over the samples, as the next
    Hindrances hindrances;
  };
  static void add(Minute& minute, const RankStanding& standing);
  static RankPace pace_of(const Minute& minute);
  std::map<int, Minute> minutes_;
};

// The slow ranks of a gang. A difference that nothing explains must last for two minutes: ranks are
// sampled too seldom to tell it from chance earlier.
class PaceComparison {
 public:
  explicit PaceComparison(int ranks) : latest_(static_cast<std::size_t>(ranks)) {}

  void take(Instant now, const RankPace& pace);
  EvidenceList slow(const GangNow& gang, Instant now);

 private:
  struct Latest {
    std::optional<RankPace> pace;
    Instant at;
    Instant judged;  // the `at` that was counted last
    int times = 0;   // minutes in a row in which it was slow
    Instant since;
  };
  struct Verdict {
    std::int64_t here = 0, elsewhere = 0;
    std::string reason;  // "": nothing explains it
  };
  struct Medians {
    std::int64_t busy = 0, cpu = 0, lines = 0, retransmits = 0;
    Hindrances hindrances;
    bool all_gpu_held = false;
  };
  Medians medians(const std::vector<int>& ranks) const;
  // `is_alone`: as far as is known, the rank has not connected to other ranks.
  std::optional<Verdict> compare(const RankPace& pace, const Medians& all, bool is_alone) const;
  static std::string reason_of(const RankPace& pace, const Medians& all);

  std::vector<Latest> latest_;  // by rank
  bool is_new_ = false;
  EvidenceList found_;
};

}  // namespace lockstep::runner
