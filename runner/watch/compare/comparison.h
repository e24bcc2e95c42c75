#pragma once
// Compares the ranks of a gang, in the runner of node rank 0: it takes the standings of all nodes
// and returns a list of all present findings. Pure: the time is an input, and if it needs new
// samples, it returns a GangLook, which the caller sends.
//
// Evidence of a hang (evidence.h) becomes the verdict `hangs` only after two looks, kLooksApart or
// more apart, have found the same evidence in samples that were taken for them: earlier standings
// may be old, because a rank that does not change class sends none. A finding about a rank waits
// for the rank's stack, at most kNameWithin.
//
// Time in which this runner did not run is left out: when a machine is paused, all clocks jump.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/ranks/found.h"
#include "common/domain/runners/watch_protocol.h"
#include "runner/watch/compare/evidence.h"
#include "runner/watch/compare/notices.h"
#include "runner/watch/compare/pace.h"
#include "runner/watch/compare/role.h"

namespace lockstep::runner {

inline constexpr Duration kCompareEvery = seconds(2);
inline constexpr int kLooksForHang = 2;
inline constexpr Duration kLooksApart = seconds(10);
inline constexpr Duration kLookTimeout = seconds(20);
inline constexpr Duration kNameWithin = seconds(16);
inline constexpr Duration kNameAgainEvery = minutes(2);
// The pause between two questions for stacks that name ranks. It doubles each time, since tools
// cost ranks some time, until no rank has waited for a while.
inline constexpr Duration kLeastPauseOfNames = seconds(30);
inline constexpr Duration kLongestPauseOfNames = minutes(10);
// Ranks that spin, or poll with a time-out, are recognised as waiting only by their stacks. At most
// this many are asked for when a rank has left and the others do not move.
inline constexpr std::size_t kMostAskedAfterLeft = 64;
inline constexpr Duration kLongestPauseAfterLeft = minutes(5);
// the interval while ranks wait for their GPUs
inline constexpr Duration kCountEvery = seconds(10);
// the time between two comparisons that counts as an absence
inline constexpr Duration kAwayAfter = seconds(10);

class Comparison {
 public:
  Comparison(HangPolicy policy, GangShape shape);

  void add_address(const std::string& address, int node_rank) {
    shape_.add_address(address, node_rank);
  }

  // Takes standings of other nodes. Their times are moved to our clock, by `now`.
  void take(Instant now, const GangStandings& told);
  void take(Instant now, const GangSeen& seen);
  // The counts of collectives that ranks have launched, from NCCL's RAS, which one node asks for
  // the whole job.
  void take_counts(Instant now, const std::map<int, std::vector<CollectiveCount>>& counts);
  bool wants_counts(Instant now);  // true: the counts must be requested now
  // The newest standing of each rank, on our clock; nullopt: none has come.
  const std::vector<std::optional<RankStanding>>& standings() const { return standings_; }
  // Tells that all ranks of a node, `count` from `first` on, have exited with 0; its runner leaves.
  void node_done(Instant now, int node_rank, int first, int count);

  // Compares, and returns all present findings; called every kCompareEvery.
  FoundList look(Instant now);
  // The question to all nodes that is due now; nullopt: none. Call it after look().
  std::optional<GangLook> question(Instant now);

 private:
  // The memory of one piece of evidence while it lasts.
  struct Case {
    Instant first;
    Evidence evidence;  // the newest evidence
    std::optional<Found> said;
    Instant said_named;    // `named` when the case was last reported
    Instant named;         // the time at which a look for stacks was answered or given up
    int confirmed = 0;     // looks that found the same
    Instant confirmed_at;  // the time of the last confirmation
  };
  using Key = std::pair<FoundKind, std::vector<int>>;
  struct Question {
    GangLook look;
    Instant asked;
    std::set<int> missing;
  };

  static Key key_of(const Evidence& evidence);
  void put(Instant now, Instant theirs, RankStanding standing);
  void skip_away_time(Instant now);
  GangNow gang_at(Instant now) const;
  EvidenceList evidence_in(const GangNow& gang, Instant now);
  void update_cases(EvidenceList evidence, Instant now);
  void settle_question(const GangNow& gang, Instant now);
  void take_answer(const Question& question, bool is_full, Instant now);
  bool is_due(const Case& one, Instant now) const;
  Found say(Case& one, Instant now) const;
  void choose_question(const GangNow& gang, Instant now);
  bool ask_for_stacks(const GangNow& gang, Instant now);
  bool ask_after_left(const GangNow& gang, Instant now);
  void ask_again(const GangNow& gang, Instant now);
  void ask(GangLook look, const GangNow& gang, Instant now);

  const HangPolicy policy_;
  GangShape shape_;
  std::vector<std::optional<RankStanding>> standings_;  // by rank, on our clock
  FirstTimes first_;
  PaceComparison paces_;
  std::set<int> lost_;  // the node ranks of lost nodes
  std::map<Key, Case> cases_;
  std::optional<Question> question_;
  bool is_unasked_ = false;  // question_ has not been handed out yet
  Instant ask_again_at_;
  Instant name_again_at_, names_wanted_;  // names_wanted_: when there was a reason last
  Duration name_pause_{0};
  std::size_t left_ = 0;  // ranks that have left, when the others were asked about last
  Instant ask_left_at_;
  Duration left_pause_{0};
  std::uint64_t last_id_ = 0;
  // True if for half of hang_after some rank has waited for its GPU, or in an unknown library.
  bool may_use_nccl_ = false;
  Instant counted_;
  Instant looked_;
};

// Whether both say the same, whatever their numbers are.
bool says_same(const FoundList& a, const FoundList& b);

}  // namespace lockstep::runner
