#pragma once
// The reports of a node's runner to its parent in the gang's tree, about its own ranks and the
// ranks below it: standings of ranks that changed class, paces, and answers to looks. Pure. It
// collects what arrives in a short time into one message, so that node rank 0 of a thousand nodes
// gets only as many messages as it has children. The messages of node rank 0 itself are for its
// Comparison.
//
// A rank that moves is reported once, again when it has not moved for kStalledAfter, with its
// activity, and then at each change of the activity. So a training gang sends only paces, and a
// hanging gang reports that once.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/runners/runner_protocol.h"
#include "common/domain/runners/watch_protocol.h"
#include "runner/watch/compare/pace.h"
#include "runner/watch/compare/role.h"

namespace lockstep::runner {

// The time for which a node with children gathers messages; a leaf sends at once.
inline constexpr Duration kGatherFor = milliseconds(500);
inline constexpr std::size_t kMaxOpenLooks = 4;  // older ones are not answered any more
// the time after a look within which stacks must come; then it is answered without them
inline constexpr Duration kStackWithin = seconds(14);
inline constexpr Duration kLongestSample = 3 * kWatchEvery;  // beyond, the machine stood still

class Telling {
 public:
  explicit Telling(bool has_children) : has_children_(has_children) {}

  // The standings of all ranks of this node, called for each sample.
  void sampled(Instant now, const RankStandings& standings);
  // Takes a message from a child.
  void take(Instant now, const GangStandings& below);
  void take(Instant now, const GangSeen& below);
  void look(Instant now, const GangLook& look);
  void lost(Instant now, int node_rank);

  // Ranks of this node whose stack a look asks for.
  std::set<int> wanted_stacks() const;

  // The messages that are due now.
  std::vector<GangMessage> due(Instant now);
  // the time at which due() has messages; never(): none wait
  Instant next() const { return flush_at_; }

 private:
  struct Open {
    GangLook look;
    Instant asked;
    std::set<int> answered;
  };
  struct Own {
    std::string told;      // the class that was reported last
    Instant raw_since;     // when the class began, as it was sampled
    Duration forgiven{0};  // how long the machine stood still since then
  };

  void note(Instant now);
  void forgive(Own& own, RankStanding& standing) const;
  void answer(Instant now, const RankStanding& standing);
  void put(std::map<int, RankStanding>& into, RankStanding standing, Duration ahead);
  std::vector<GangMessage> standings(Instant now);
  std::vector<GangMessage> answers(Instant now);

  const bool has_children_;
  std::map<int, Own> own_;  // by rank
  PaceMeter meter_;
  std::map<int, RankStanding> changed_;  // by rank, on our clock
  std::map<int, RankPace> paces_;
  std::set<int> lost_;
  std::map<std::uint64_t, Open> open_;
  std::map<std::uint64_t, std::map<int, RankStanding>> seen_;
  Instant flush_at_ = Instant::never();
};

// The part of a standing whose changes node rank 0 must hear at once.
std::string class_of(const RankStanding& standing);

}  // namespace lockstep::runner
