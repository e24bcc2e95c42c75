#include "launcher/schedules/due_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "common/base/nearest.h"
#include "launcher/schedules/next_fire.h"

namespace lockstep::launcher {
namespace {

std::string zone_named_in(const Trigger& trigger) {
  return trigger.time_zone.empty() ? std::string(kUtc) : trigger.time_zone;
}

bool ends_before(const Trigger& trigger, Instant time, const TimeZones& zones) {
  return trigger.end_time && zones.instant(zone_named_in(trigger), *trigger.end_time) < time;
}

// ScheduleSet::at_once: the anchor is a time, and nothing was done for it yet.
bool has_first_time(const Schedule& schedule, const TimeZones& zones) {
  const Trigger& trigger = schedule.text.trigger;
  return schedule.seen < schedule.anchor && zones.has(zone_named_in(trigger)) &&
         !ends_before(trigger, schedule.anchor, zones);
}

}  // namespace

std::optional<Instant> next_time(const Schedule& schedule, Instant after, const TimeZones& zones) {
  if (after < schedule.anchor && has_first_time(schedule, zones)) return schedule.anchor;
  return next_fire(schedule.text.trigger, schedule.anchor, std::max(after, schedule.anchor), zones);
}

std::optional<DueTime> due_time(const Schedule& schedule, Instant until, const TimeZones& zones) {
  std::optional<Instant> last;
  if (schedule.anchor <= until && has_first_time(schedule, zones)) last = schedule.anchor;
  const Instant after = std::max(schedule.seen, schedule.anchor);
  if (after < until)
    if (const auto later = last_fire(schedule.text.trigger, schedule.anchor, after, until, zones))
      last = later;
  if (!last) return std::nullopt;
  DueTime due{*last};
  for (auto time = next_time(schedule, schedule.seen, zones);
       time && *time < *last && !due.missed_more; time = next_time(schedule, *time, zones)) {
    if (due.missed == kMaxCountedMisses)
      due.missed_more = true;
    else
      ++due.missed;
  }
  return due;
}

std::optional<Error> wrong_zone(const Trigger& trigger, const TimeZones& zones) {
  const std::string zone = zone_named_in(trigger);
  if (zones.has(zone)) return std::nullopt;
  const std::vector<std::string> names = zones.names();
  const std::string near = nearest(zone, std::vector<std::string_view>(names.begin(), names.end()));
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("there is no time zone '{}'; {}", zone,
                  near.empty() ? "write a name of IANA such as Europe/Berlin, or of Windows such "
                                 "as 'W. Europe Standard Time'"
                               : fmt::format("did you mean '{}'?", near)));
}

std::optional<Error> refused_times(const JobSchedule& schedule, Instant now,
                                   const TimeZones& zones) {
  if (auto error = wrong_zone(schedule.trigger, zones)) return error->within("trigger.time_zone");
  if (fires_when_created(schedule) && !ends_before(schedule.trigger, now, zones))
    return std::nullopt;
  if (next_fire(schedule.trigger, now, now, zones)) return std::nullopt;
  if (!schedule.trigger.end_time)
    return make_error(ErrorCode::invalid_argument, "trigger: it never fires from now on");
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("trigger.end_time: there is no time between now ({}) and {}, so it would never "
                  "fire",
                  local_text(schedule.trigger, now, zones), to_string(*schedule.trigger.end_time)));
}

std::string local_text(const Trigger& trigger, Instant time, const TimeZones& zones) {
  const std::string zone = zone_named_in(trigger);
  if (!zones.has(zone)) return to_string(OnlyUtc().local(std::string(kUtc), time)) + " UTC";
  return fmt::format("{} {}", to_string(zones.local(zone, time)), zone);
}

}  // namespace lockstep::launcher
