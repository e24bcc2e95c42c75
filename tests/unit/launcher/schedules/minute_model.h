#pragma once
// A naive model of triggers: it walks every minute, looks at what the clock of the zone shows, and
// asks whether the trigger names that. It knows nothing of cron.h and next_fire.h. The rule: a time
// that the clock shows twice counts the first time, and what the clock skips counts when it skips.

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/domain/schedule.h"
#include "common/domain/time_zones.h"

namespace lockstep::launcher::test {

// A minute, and the local minutes since 1970 that the clock has passed for the first time at it:
// those after `after`, and up to `shown`. Mostly one; in spring many or more; in autumn none.
struct ModelMinute {
  Instant at;
  std::int64_t after = 0, shown = 0;
};
std::vector<ModelMinute> minutes_between(const TimeZones& zones, const std::string& zone,
                                         Instant begin, Instant end);

// A field of a cron expression. `is_star`: it begins with *.
struct ModelField {
  std::set<int> values;
  std::string text;
  bool is_star = false;
};
struct ModelTrigger {
  Trigger trigger;
  // Of cron; of a recurrence, they are empty.
  ModelField minute, hour, day, month, week_day;
};

// Of any kind, but those of minutes and hours of elapsed time. Times of recurrences count from a
// start_time, on a full minute, up to 40 days before `from`.
ModelTrigger random_trigger(std::mt19937& random, const std::string& zone, LocalTime from);

// Whether the trigger names this local minute. Recurrences have a start_time.
bool names(const ModelTrigger& trigger, std::int64_t local_minute);

// The times after `after`, and not before `start`.
std::vector<Instant> times_of(const ModelTrigger& trigger, const std::vector<ModelMinute>& minutes,
                              Instant start, Instant after);

}  // namespace lockstep::launcher::test
