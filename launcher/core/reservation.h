#pragma once
// When a job that waits for busy nodes can start at the latest, by the time limits of what runs
// there, and what is kept for it until then. Jobs behind it may start earlier if that does not make
// it later: EASY backfill. Pure functions over State.

#include <map>
#include <optional>
#include <string>

#include "launcher/core/placement.h"

namespace lockstep::launcher {

// How long such a job holds its nodes at most once it is placed: time to prepare, its time limit,
// and the grace time. nullopt: it has no time limit.
std::optional<Duration> longest_hold(const CoreConfig& config, const JobSpec& spec);
// What is reckoned for the preparation of a job's nodes, which no time limit bounds.
inline constexpr Duration kPreparation = seconds(10);
inline constexpr Duration kPreparationOfEnvironment = minutes(10);

// While it is unknown when the first job can start, jobs behind it may take its nodes for so long.
inline constexpr Duration kLongestBackfill = minutes(60);

struct Reservation {
  std::optional<Instant> at;  // absent: nothing that runs says when it ends
  std::string until;          // "job x reaches its time limit"; or why `at` is absent
  KeptNodes kept;

  // True if a job that is placed now and holds its nodes for so long gives them back in time.
  bool ends_before(Instant now, std::optional<Duration> longest) const;
  // A job was placed that will not have ended then.
  void take(const Placed& placed);
};
// For a job for which place() returned Blocked.
Reservation reserve(const Cluster& cluster, const Job& job);
// "starts at 2026-11-26 12:05:00Z at the latest, when job x reaches its time limit".
std::string describe(const Reservation& reservation);

}  // namespace lockstep::launcher
