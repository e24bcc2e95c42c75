#pragma once
// The messages about running ranks among the runners of a gang: a node's changed standings go up
// the tree to node rank 0, which may ask nodes for fresh ones. The times of a message are on its
// sender's clock; the receiver moves them to its own clock by `now`.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/table.h"
#include "common/base/time.h"
#include "common/domain/ranks/bounds.h"
#include "common/domain/ranks/standing.h"

namespace lockstep {

inline constexpr std::size_t kMaxStandingsOfMessage = 4'096;  // more are sent in several messages
inline constexpr std::size_t kMaxRanksOfLook = 1'024;

// How fast a rank was over the last kPaceOver, in numbers that are compared with other ranks'.
inline constexpr Rule kSamplesRule{.low = 0, .high = 1'000'000};
struct RankPace {
  int rank = 0;
  int node_rank = 0;
  Duration over{0};
  int samples = 0;
  int waiting = 0;             // the samples in which the rank waited for a peer
  int moving = 0;              // the samples before which something of the rank had moved
  std::int64_t cpu_milli = 0;  // mean
  std::int64_t log_lines = 0;  // the lines of log in this time; the next two fields have the same
                               // time
  std::int64_t retransmits = 0;
  Hindrances hindrances;  // means; major_faults in this time; cpu_mhz as they were last
  static void table(auto& s, auto&& see) {
    see(field<1>, "rank", s.rank, kRankRule);
    see(field<2>, "node_rank", s.node_rank, kNodeRankRule);
    see(field<3>, "over", s.over);
    see(field<4>, "samples", s.samples, kSamplesRule);
    see(field<5>, "waiting", s.waiting, kSamplesRule);
    see(field<10>, "moving", s.moving, kSamplesRule);
    see(field<6>, "cpu_milli", s.cpu_milli, kMeasureRule);
    see(field<7>, "log_lines", s.log_lines, kMeasureRule);
    see(field<8>, "retransmits", s.retransmits, kMeasureRule);
    see(field<9>, "hindrances", s.hindrances);
  }
  friend bool operator==(const RankPace&, const RankPace&) = default;
};

// node -> its parent, merged on the way to node rank 0: changed standings. Sent when a rank changed
// its class (runner/watch/compare/telling.h), and once in kPaceOver.
struct GangStandings {
  static constexpr int kBody = 30;
  Instant now;  // the sender's clock
  std::vector<RankStanding> standings;
  std::vector<RankPace> paces;
  std::vector<int> lost;  // node ranks that a neighbour of theirs does not hear any more
  static void table(auto& s, auto&& see) {
    see(field<1>, "now", s.now);
    see(field<2>, "standings", s.standings, {.count = kMaxStandingsOfMessage});
    see(field<3>, "paces", s.paces, {.count = kMaxStandingsOfMessage});
    see(field<4>, "lost", s.lost,
        {.low = 0, .high = kMaxNodesPerJob - 1, .count = kMaxNodesPerJob});
  }
  friend bool operator==(const GangStandings&, const GangStandings&) = default;
};

// node rank 0 -> every node: asks what their ranks do now. Each node that has one of these ranks
// answers with samples that it has taken after the question.
struct GangLook {
  static constexpr int kBody = 31;
  std::uint64_t id = 0;
  bool all = false;        // true: all ranks; false: `ranks`
  std::vector<int> ranks;  // the ranks to look at; at most kMaxRanksOfLook
  bool stacks = false;     // ask for stacks too: RankStanding::at
  bool keep = false;  // also writes whole stacks into the job's logs (lockstep.on_hang: stacks)
  static void table(auto& s, auto&& see) {
    see(field<1>, "id", s.id);
    see(field<2>, "all", s.all);
    see(field<3>, "ranks", s.ranks, {.low = 0, .high = kMaxRankNumber, .count = kMaxRanksOfLook});
    see(field<4>, "stacks", s.stacks);
    see(field<5>, "keep", s.keep);
  }
  friend bool operator==(const GangLook&, const GangLook&) = default;
};

// node -> its parent, merged on the way: an answer to a GangLook.
struct GangSeen {
  static constexpr int kBody = 32;
  std::uint64_t id = 0;  // the id of the question
  Instant now;           // the sender's clock
  std::vector<RankStanding> standings;
  static void table(auto& s, auto&& see) {
    see(field<1>, "id", s.id);
    see(field<2>, "now", s.now);
    see(field<3>, "standings", s.standings, {.count = kMaxStandingsOfMessage});
  }
  friend bool operator==(const GangSeen&, const GangSeen&) = default;
};

inline constexpr Duration kPaceOver = minutes(1);
inline constexpr std::size_t kMaxWatchedRanks = 200'000;  // the most ranks of a gang that are
                                                          // compared; larger gangs are not

}  // namespace lockstep
