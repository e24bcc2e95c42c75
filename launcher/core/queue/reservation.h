#pragma once
// The latest time at which a job that waits for busy nodes can start, according to the time limits
// of the jobs there, and the nodes that are kept for it until then. Jobs behind it may start
// earlier if that does not delay it: EASY backfill. A job that waits for its own user's jobs, whose
// end is unknown or far, keeps nothing from others; one that waits for others' jobs of unknown end
// keeps its nodes in turns (docs/decisions/080). Pure functions over State.

#include <map>
#include <optional>

#include "common/domain/why/jobs/waits.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/placement.h"

namespace lockstep::launcher {

// The longest time that such a job holds its nodes once it is placed: time to prepare, its time
// limit, and the grace time. nullopt: it has no time limit.
std::optional<Duration> longest_hold(const CoreConfig& config, const JobSpec& spec);
// The estimated time to prepare a job's nodes, which no time limit bounds.
inline constexpr Duration kPreparation = seconds(10);
inline constexpr Duration kPreparationOfEnvironment = minutes(10);

// The time for which jobs behind the head may take its nodes while it is unknown when the head can
// start.
inline constexpr Duration kLongestBackfill = minutes(60);

// The time beyond which an end counts as unknown for a job that waits for another job of its own
// user, so that nothing is kept from other users.
inline constexpr Duration kFarEnd = std::chrono::hours(24);
// The first turn: while it is unknown when a job can start, its nodes are kept for this time, then
// are open to other users for as long, and so on; each turn lasts twice as long as the one before.
inline constexpr Duration kFirstTurn = std::chrono::hours(24);

struct Reservation {
  std::optional<Instant> at;  // absent: no running job has a known end
  Why until;                  // the job that ends then; or why `at` is absent
  KeptNodes kept;
  // True: even if all jobs of others ended, it would wait for its own user's jobs until then.
  bool waits_for_own = false;
  bool is_open = false;                   // jobs of other users may take the kept nodes
  Instant changes_at = Instant::never();  // the time at which time alone changes `is_open`

  // Sets is_open and changes_at by the turns, if it is unknown when the job can start. `since`:
  // when it became the head.
  void take_turns(Instant since, Instant now);
  // True if a job that is placed now and holds its nodes for at most `longest` ends in time.
  bool ends_before(Instant now, std::optional<Duration> longest) const;
  // Takes from `kept` the nodes of a placed job that will not have ended at `at`.
  void take(const Placed& placed);
  ExpectedStart start() const { return {at, until}; }
};
// The reservation for a job for which place() returned Blocked.
Reservation reserve(const Cluster& cluster, const Job& job);

}  // namespace lockstep::launcher
