#pragma once
// What happens to schedules of jobs, as facts. ScheduleTable is their fold. Each fact is stamped
// with the time of the step that wrote it. docs/decisions/093-schedules.md.

#include <cstdint>
#include <string>
#include <variant>

#include "common/domain/job_schedule.h"

namespace lockstep::launcher {

// The schedule was created, or its text was replaced.
struct ScheduleSet {
  JobSchedule schedule;  // `enabled` counts only when it is created
  std::string owner;     // whose jobs its runs are; the first one counts
  std::string by;
  bool at_once = false;  // the time of this fact is its first time; only of a new one
  friend bool operator==(const ScheduleSet&, const ScheduleSet&) = default;
};
struct ScheduleSwitched {  // by its owner
  std::string schedule;
  bool enabled = true;
  std::string by;
  friend bool operator==(const ScheduleSwitched&, const ScheduleSwitched&) = default;
};
struct SchedulePaused {  // by an operator, whatever its owner says; or no longer
  std::string schedule;
  bool paused = true;
  std::string by;
  friend bool operator==(const SchedulePaused&, const SchedulePaused&) = default;
};
struct ScheduleRemoved {  // its runs go on
  std::string schedule;
  std::string by;
  friend bool operator==(const ScheduleRemoved&, const ScheduleRemoved&) = default;
};

// A time of a trigger, and how many before it count as missed: they passed since the last fact of
// the schedule and have no run of their own.
struct DueTime {
  Instant at;
  std::uint64_t missed = 0;
  bool missed_more = false;  // `missed` is kMaxCountedMisses, and there may be more
  friend bool operator==(const DueTime&, const DueTime&) = default;
};
inline constexpr std::uint64_t kMaxCountedMisses = 1'000;

// A run: the job is submitted in the same step.
struct ScheduleFired {
  std::string schedule;
  std::uint64_t run = 1;  // 1, 2, …
  DueTime due;            // if a person asked for it: when they did
  JobId job;
  FiringCause cause = FiringCause::time;
  std::string by;  // "": the trigger
  friend bool operator==(const ScheduleFired&, const ScheduleFired&) = default;
};

// Why times of a trigger get no run.
struct RunGoesOn {  // Overlap::forbid
  JobId job;        // one that had not ended then
  friend bool operator==(const RunGoesOn&, const RunGoesOn&) = default;
};
struct TooManyRuns {  // kMaxOpenRuns had not ended
  friend bool operator==(const TooManyRuns&, const TooManyRuns&) = default;
};
struct RunRefused {  // as a submission of its owner
  ErrorCode code = ErrorCode::internal;
  std::string message;  // at most kMaxRefusalBytes
  friend bool operator==(const RunRefused&, const RunRefused&) = default;
};
using WhyPassed = std::variant<RunGoesOn, TooManyRuns, RunRefused>;
inline constexpr std::size_t kMaxRefusalBytes = 1'024;

struct SchedulePassed {
  std::string schedule;
  DueTime due;
  WhyPassed why;
  friend bool operator==(const SchedulePassed&, const SchedulePassed&) = default;
};

// The job of a run has ended. The launcher's JobFinished says the same, so it needs no row of its
// own in the journal.
struct ScheduleRunEnded {
  JobId job;
  JobStatus status = JobStatus::completed;
  friend bool operator==(const ScheduleRunEnded&, const ScheduleRunEnded&) = default;
};

using ScheduleFact = std::variant<ScheduleSet, ScheduleSwitched, SchedulePaused, ScheduleRemoved,
                                  ScheduleFired, SchedulePassed, ScheduleRunEnded>;

}  // namespace lockstep::launcher
