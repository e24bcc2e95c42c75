#pragma once
// When a trigger of a schedule fires. Pure: the time zones are given. docs/decisions/047 says what
// holds where a zone's clock changes and in short months.

#include <optional>
#include <string>

#include "common/domain/targets/schedule.h"
#include "common/domain/targets/time_zones.h"
#include "launcher/core/base/config.h"

namespace lockstep::launcher {

// The first time after `after` at which the trigger fires. `anchor`: when it was set; it never
// fires before, and its recurrence is counted from there unless it has a start_time. nullopt: it
// does not fire again, or there is no such time zone.
std::optional<Instant> next_fire(const Trigger& trigger, Instant anchor, Instant after,
                                 const TimeZones& zones);

// The last time after `after` and not after `until`.
std::optional<Instant> last_fire(const Trigger& trigger, Instant anchor, Instant after,
                                 Instant until, const TimeZones& zones);

// The zones that the launcher knows; UTC alone if it was given none.
const TimeZones& zones_of(const CoreConfig& config);
// The name of the trigger's zone.
std::string zone_of(const Trigger& trigger);

}  // namespace lockstep::launcher
