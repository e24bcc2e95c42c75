#pragma once
// When a job that waits for busy nodes can start at the latest, by the time limits of what runs
// there, and what is kept for it until then. Jobs behind it may start earlier if that does not make
// it later: EASY backfill. A job that waits for its own user's jobs, whose end is unknown or far,
// keeps nothing from others; one that waits for others' jobs of unknown end keeps its nodes in
// turns (docs/decisions/080). Pure functions over State.

#include <map>
#include <optional>

#include "common/domain/why/jobs/waits.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/placement.h"

namespace lockstep::launcher {

// How long such a job holds its nodes at most once it is placed: time to prepare, its time limit,
// and the grace time. nullopt: it has no time limit.
std::optional<Duration> longest_hold(const CoreConfig& config, const JobSpec& spec);
// What is reckoned for the preparation of a job's nodes, which no time limit bounds.
inline constexpr Duration kPreparation = seconds(10);
inline constexpr Duration kPreparationOfEnvironment = minutes(10);

// While it is unknown when the first job can start, jobs behind it may take its nodes for so long.
inline constexpr Duration kLongestBackfill = minutes(60);

// An end that is farther ahead counts as unknown for what a user's job keeps from others while it
// waits for another job of that user.
inline constexpr Duration kFarEnd = std::chrono::hours(24);
// While it is unknown when a job can start, its nodes are kept for so long, then they are open to
// other users for as long, and each turn lasts twice as long as the one before.
inline constexpr Duration kFirstTurn = std::chrono::hours(24);

struct Reservation {
  std::optional<Instant> at;  // absent: nothing that runs says when it ends
  Why until;                  // what ends then; or why `at` is absent
  KeptNodes kept;
  // Even if all jobs of others ended, it would wait for its own user's, until then.
  bool waits_for_own = false;
  bool is_open = false;                   // jobs of other users may take what is kept
  Instant changes_at = Instant::never();  // when that changes as time passes

  // Whose turn it is, if it is unknown when the job can start: it is at the head since then.
  void take_turns(Instant since, Instant now);
  // True if a job that is placed now and holds its nodes for so long gives them back in time.
  bool ends_before(Instant now, std::optional<Duration> longest) const;
  // A job was placed that will not have ended then.
  void take(const Placed& placed);
  ExpectedStart start() const { return {at, until}; }
};
// For a job for which place() returned Blocked.
Reservation reserve(const Cluster& cluster, const Job& job);

}  // namespace lockstep::launcher
