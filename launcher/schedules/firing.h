#pragma once
// Decides what follows from a schedule's times: a run, or none for a reason. Pure. A caller writes
// the fact of each decision before it asks for the next one. docs/decisions/093-schedules.md.

#include <optional>
#include <string>
#include <variant>

#include "common/base/result.h"
#include "common/domain/time_zones.h"
#include "launcher/schedules/schedule_table.h"

namespace lockstep::launcher {

// Submit a job now. Its fact is fired(), or refused() if the submission is refused.
struct StartRun {
  DueTime due;
  FiringCause cause = FiringCause::time;
  std::string by;  // "": the trigger
  friend bool operator==(const StartRun&, const StartRun&) = default;
};
using Firing = std::variant<StartRun, SchedulePassed>;

// What follows now; nullopt: nothing. However late it is asked, times that have passed make at most
// one run.
std::optional<Firing> firing_of(const Schedule& schedule, Instant now, const TimeZones& zones);

// When firing_of() says more if no fact of the schedule comes first; never() if it does not.
Instant next_look(const Schedule& schedule, Instant now, const TimeZones& zones);

// A run that a person asks for, whether the schedule is on or not. conflict: it is paused, or runs
// that have not ended forbid it.
Result<StartRun> asked_run(const Schedule& schedule, Instant now, std::string by);

ScheduleFired fired(const Schedule& schedule, const StartRun& start, JobId job);
// Only for times of the trigger: a person gets the error.
SchedulePassed refused(const Schedule& schedule, const StartRun& start, const Error& error);

}  // namespace lockstep::launcher
