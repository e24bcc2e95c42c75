#pragma once
// Computes when a trigger of a schedule fires. Pure: the time zones are passed in.
// docs/decisions/047 has the rules for short months and for times when a zone's clock changes.

#include <optional>
#include <string>

#include "common/domain/targets/schedule.h"
#include "common/domain/targets/time_zones.h"
#include "launcher/core/base/config.h"

namespace lockstep::launcher {

// The first time after `after` at which the trigger fires. `anchor`: the time at which the trigger
// was set: it never fires before, and its recurrence is counted from there unless it has a
// start_time. nullopt: it does not fire again, or its time zone does not exist.
std::optional<Instant> next_fire(const Trigger& trigger, Instant anchor, Instant after,
                                 const TimeZones& zones);

// The last time at which the trigger fires after `after` and not after `until`.
std::optional<Instant> last_fire(const Trigger& trigger, Instant anchor, Instant after,
                                 Instant until, const TimeZones& zones);

// The time zones that the launcher knows; only UTC if it was given none.
const TimeZones& zones_of(const CoreConfig& config);
// The name of the trigger's zone.
std::string zone_of(const Trigger& trigger);

}  // namespace lockstep::launcher
