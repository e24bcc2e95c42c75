#pragma once
// Follows one rank from look to look: since when nothing of it has moved, its activity, and when a
// tool may stop it for a moment to read its stack. Pure: looks, facts and stacks come in, a
// RankStanding comes out.
//
// What moves a rank: its log grows; bytes come from peers or go to them (beyond RAS's keep-alives
// where NCCL is loaded), or such a socket opens or closes; it reads or writes; pages fault, as in a
// process that allocates, compiles or loads; its processes come and go; collective counts, PMIx
// connects and fences change; its stack differs. Cpu time alone does not count, since ranks spin
// while they wait. A time in which nobody could look, because the machine slept or was paused or a
// debugger held the rank, does not count.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/domain/ranks/standing.h"
#include "runner/watch/rank_look.h"
#include "runner/watch/stack_top.h"

namespace lockstep::runner {

// Facts about a rank that the runner has without looking at it.
struct RankFacts {
  int rank = 0;
  int pid = 0;  // the pid as lockstep-spawn sees it
  bool lives = true;
  int exit_code = 0;        // set if the rank has ended; for a signal 128 + its number
  std::string cgroup = {};  // the directory whose members its processes are among; "": none
  std::int64_t log_bytes = 0, log_lines = 0;
  // whether it has connected to PMIx or PMI-1, and finalized
  bool connected = false, finalized = false;
  std::string gpu_held = {};  // see Hindrances
};
// Facts that are the same for all ranks of this node.
struct NodeFacts {
  int node_rank = 0;
  bool meets_at_pmix = false;   // the job's ranks are expected to call MPI_Init
  bool meets_at_store = false;  // … to come to MASTER_PORT
  std::int64_t fences = 0;
  bool in_fence = false;
};

// The time without movement after which a rank is examined thread by thread.
inline constexpr Duration kLookCloselyAfter = seconds(10);

class RankTrack {
 public:
  explicit RankTrack(int rank) { standing_.rank = rank; }

  void take(const RankLook& look, const RankFacts& facts, const NodeFacts& node);
  // Takes a stack. `top`: nullopt if none could be taken.
  void take_stack(const std::optional<StackTop>& top, Instant at);
  // Takes RAS's newest answer, which holds for `at`.
  void take_counts(std::vector<CollectiveCount> counts, Instant at);
  void set_versions(Versions versions) { standing_.versions = std::move(versions); }

  const RankStanding& standing() const { return standing_; }
  bool wants_close_look(Instant now) const;
  // Whether its stack is to be taken, now that it has not moved for nearly `after`; twice, so that
  // a rank whose stack differs has moved. Then again after twice that time, and so on, and likewise
  // while nothing but its stack shows that it moves: a tool costs a rank that computes some time.
  bool wants_stack(Instant now, Duration after) const;

 private:
  struct Step;
  void take_facts(const RankLook& look, const RankFacts& facts, const NodeFacts& node);
  void take_counters(const RankLook& look, const Step& step);
  void take_hindrances(const RankLook& look, const Step& step);
  bool has_moved(const RankLook& look, const Step& step) const;
  void end(const RankFacts& facts, Instant now);
  void shift(Duration unseen);
  void move(Instant now) { standing_.since = now; }
  static std::size_t telling_process(const RankLook& look, const Step& step);
  void judge(const RankLook& look, const Step& step);
  void obey_stack(const RankLook& look, const ProcessLook& process);

  RankStanding standing_;
  std::optional<RankLook> before_;
  std::optional<RankLook> slow_before_;  // the last look with the data that is read seldom
  bool has_met_ = false;
  std::string last_key_;  // the activity at the previous look, and the object that blocked it
  std::optional<StackTop> stack_;
  int asked_ = 0;           // the stacks that were taken since `asked_since_`
  Instant asked_since_;     // == standing_.since, unless it has moved meanwhile
  int moves_by_stack_ = 0;  // consecutive moves that only a changed stack showed
};

}  // namespace lockstep::runner
