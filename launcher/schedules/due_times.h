#pragma once
// The times of a schedule's trigger, as the schedule stands: next_fire.h for one that remembers
// what it has done. Pure. docs/decisions/093-schedules.md.

#include <optional>

#include "common/domain/time_zones.h"
#include "launcher/schedules/schedule_table.h"

namespace lockstep::launcher {

// The first time after `after`, which is not before schedule.seen. nullopt: there is none, or no
// such time zone.
std::optional<Instant> next_time(const Schedule& schedule, Instant after, const TimeZones& zones);

// The last time after schedule.seen and not after `until`, with those that came before it.
std::optional<DueTime> due_time(const Schedule& schedule, Instant until, const TimeZones& zones);

// An error if the trigger's time zone is not known: "there is no time zone 'X'; …".
std::optional<Error> wrong_zone(const Trigger& trigger, const TimeZones& zones);
// An error, which begins with the key, for a new schedule or a new trigger that can never fire.
std::optional<Error> refused_times(const JobSchedule& schedule, Instant now,
                                   const TimeZones& zones);

// "2026-03-29T08:00:00 Europe/Berlin". A zone that is not known: in UTC.
std::string local_text(const Trigger& trigger, Instant time, const TimeZones& zones);

}  // namespace lockstep::launcher
