#include "launcher/schedules/firing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/cut.h"
#include "launcher/schedules/due_times.h"

namespace lockstep::launcher {

std::optional<Firing> firing_of(const Schedule& schedule, Instant now, const TimeZones& zones) {
  if (!schedule.is_active() || schedule.is_blocked()) return std::nullopt;
  if (schedule.blocked)
    if (const auto due = due_time(schedule, std::min(now, schedule.blocked->until), zones))
      return SchedulePassed{schedule.text.name, *due, schedule.blocked->why};
  if (const auto due = due_time(schedule, now, zones)) return StartRun{*due, FiringCause::time, ""};
  return std::nullopt;
}

Instant next_look(const Schedule& schedule, Instant now, const TimeZones& zones) {
  // The end of a run is a fact of the schedule.
  if (!schedule.is_active() || schedule.is_blocked()) return Instant::never();
  const auto next = next_time(schedule, schedule.seen, zones);
  return next ? std::max(*next, now) : Instant::never();
}

Result<StartRun> asked_run(const Schedule& schedule, Instant now, std::string by) {
  const std::string& name = schedule.text.name;
  if (!schedule.paused_by.empty())
    return make_error(
        ErrorCode::conflict,
        fmt::format("schedule '{0}' is paused by {1}; an operator resumes it: lockstep schedule "
                    "resume {0}",
                    name, schedule.paused_by));
  if (!schedule.is_blocked()) return StartRun{{now}, FiringCause::person, std::move(by)};
  if (schedule.text.overlap == Overlap::allow)
    return make_error(ErrorCode::resource_exhausted,
                      fmt::format("schedule '{}' has {} runs that have not ended, the most "
                                  "possible; wait for one, or cancel one",
                                  name, schedule.open.size()));
  return make_error(
      ErrorCode::conflict,
      fmt::format("run '{}' of schedule '{}' has not ended, and its overlap is {}; wait for it, or "
                  "cancel it",
                  schedule.open.begin()->second.value, name, to_string(schedule.text.overlap)));
}

ScheduleFired fired(const Schedule& schedule, const StartRun& start, JobId job) {
  return {schedule.text.name, schedule.runs + 1, start.due, std::move(job), start.cause, start.by};
}

SchedulePassed refused(const Schedule& schedule, const StartRun& start, const Error& error) {
  return {schedule.text.name, start.due,
          RunRefused{error.code, cut(error.message, kMaxRefusalBytes)}};
}

}  // namespace lockstep::launcher
