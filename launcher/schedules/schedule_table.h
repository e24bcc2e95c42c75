#pragma once
// What is remembered of schedules: the fold of their facts. No policy, and no time zones: what it
// folds to depends on the facts alone. firing.h decides which facts follow.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "launcher/schedules/schedule_facts.h"

namespace lockstep::launcher {

// A run, or times that got none.
struct ScheduleEntry {
  struct Run {
    std::uint64_t number = 0;
    JobId job;
    FiringCause cause = FiringCause::time;
    std::string by;
    std::optional<JobStatus> ended;
    friend bool operator==(const Run&, const Run&) = default;
  };
  Instant at;
  DueTime due;
  std::variant<Run, WhyPassed> what;
  friend bool operator==(const ScheduleEntry&, const ScheduleEntry&) = default;
};
inline constexpr std::size_t kMaxScheduleEntries = 50;  // that are remembered of one schedule

struct Schedule {
  // Until this time a run kept others from starting. Times up to it get none, for this reason.
  struct Blocked {
    Instant until;
    WhyPassed why;
    friend bool operator==(const Blocked&, const Blocked&) = default;
  };
  JobSchedule text;
  std::string owner;
  Instant created;
  Instant changed;  // the newest text
  Instant anchor;   // the newest trigger: a recurrence without a start counts from here
  // All times up to this one have got what they get. Before `anchor` only if that is a time, too.
  Instant seen;
  bool enabled = true;
  std::string paused_by;  // "": it is not paused
  std::uint64_t runs = 0;
  // The jobs of its runs that have not ended, by the numbers of the runs.
  std::map<std::uint64_t, JobId> open;
  std::optional<Blocked> blocked;
  std::uint64_t passed = 0;  // times that got no run although it was on, without missed ones
  std::uint64_t missed = 0;
  std::deque<ScheduleEntry> recent;  // newest last

  bool is_active() const { return enabled && paused_by.empty(); }
  bool is_blocked() const;  // a run has to end before another one starts
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

class ScheduleTable {
 public:
  void apply(Instant at, const ScheduleFact& fact);

  const std::map<std::string, Schedule>& all() const { return schedules_; }
  const Schedule* find(const std::string& name) const;  // null: there is none
  // The schedule of which this job is a run that has not ended; null: it is none, or the schedule
  // was removed.
  const Schedule* of_run(const JobId& job) const;
  std::size_t count_of(const std::string& owner) const;

  friend bool operator==(const ScheduleTable&, const ScheduleTable&) = default;

 private:
  struct Applier;
  Schedule& ref(const std::string& name);

  std::map<std::string, Schedule> schedules_;
  std::map<JobId, std::string> schedule_of_;     // of each run that has not ended
  std::map<std::string, std::size_t> by_owner_;  // none is 0
};

// "" if what the table holds agrees with itself, else what does not.
std::string wrong_with(const ScheduleTable& table);

}  // namespace lockstep::launcher
