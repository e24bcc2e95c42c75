#pragma once
// When a compute instance starts and stops by itself: triggers of cron or of a recurrence, in the
// local time of a zone, as in Azure's compute files. Plain values and their checks;
// launcher/core/base/next_fire.h evaluates them. docs/decisions/047-compute-instances.md.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/base/table.h"
#include "common/domain/targets/calendar.h"

namespace lockstep {

enum class Frequency { minute, hour, day, week, month };
Word describe(Frequency frequency);
std::string_view to_string(Frequency frequency);
constexpr Frequency last_enumerator(Frequency) { return Frequency::month; }
std::optional<Frequency> frequency_from(std::string_view word);

inline constexpr std::string_view kUtc = "UTC";
inline constexpr std::size_t kMaxSchedules = 20;  // the most schedules of one instance
inline constexpr std::size_t kMaxTimeZoneBytes = 64;
inline constexpr int kMaxInterval = 1'000;
// The range of a time on the wire: twice the range that a file may have (to 2101), so that no sum
// of times overflows.
inline constexpr Rule kLocalTimeRule{.low = 0, .high = 2 * 4'133'980'800};
inline constexpr Rule kRecurrenceNumbers{.low = 0, .count = 128};

// Every `interval` minutes, hours, days, weeks or months from the start. The lists are for days,
// weeks and months; where one is empty, the start's own value counts.
struct Recurrence {
  Frequency frequency = Frequency::day;
  int interval = 1;
  std::vector<int> hours;
  std::vector<int> minutes;     // none given, but hours: 0
  std::vector<int> week_days;   // 0 is Sunday; of weeks
  std::vector<int> month_days;  // for months; in a shorter month the last day
  static void table(auto& s, auto&& see) {
    see(field<1>, "frequency", s.frequency);
    see(field<2>, "interval", s.interval, kNotNegative);
    see(field<3>, "hours", s.hours, kRecurrenceNumbers);
    see(field<4>, "minutes", s.minutes, kRecurrenceNumbers);
    see(field<5>, "week_days", s.week_days, kRecurrenceNumbers);
    see(field<6>, "month_days", s.month_days, kRecurrenceNumbers);
  }
  friend bool operator==(const Recurrence&, const Recurrence&) = default;
};
// "monday", … for 0 is Sunday.
std::string_view week_day_name(int week_day);
std::optional<int> week_day_from(std::string_view word);  // "monday" or "Mon"

struct CronTrigger {
  std::string expression;  // cron.h
  friend bool operator==(const CronTrigger&, const CronTrigger&) = default;
};

struct Trigger {
  std::variant<CronTrigger, Recurrence> when;
  std::optional<LocalTime> start_time;  // none: the time at which the schedule was set
  std::optional<LocalTime> end_time;    // the last time at which it may fire
  std::string time_zone;                // a name of IANA or of Windows; "": UTC
  friend bool operator==(const Trigger&, const Trigger&) = default;
};
// "cron '0 8 * * 1-5', Europe/Berlin".
std::string to_string(const Trigger& trigger);

enum class InstanceAction { start, stop };
Word describe(InstanceAction action);
std::string_view to_string(InstanceAction action);

struct InstanceSchedule {
  InstanceAction action = InstanceAction::stop;
  bool enabled = true;
  Trigger trigger;
  static void table(auto& s, auto&& see) {
    see(field<1>, "action", s.action);
    see(field<2>, "disabled", negated(s.enabled));
    see(by_hand<3, 4>, "when", s.trigger.when);
    see(field<5>, "start_time", s.trigger.start_time, kLocalTimeRule);
    see(field<6>, "end_time", s.trigger.end_time, kLocalTimeRule);
    see(field<7>, "time_zone", s.trigger.time_zone, {.bytes = 2 * kMaxTimeZoneBytes});
  }
  friend bool operator==(const InstanceSchedule&, const InstanceSchedule&) = default;
};

// "schedules.compute_start_stop[0]": where the schedule with this index is in a file.
std::string schedule_path(std::size_t index);
// Checks a schedule without its time zone, which only a TimeZones can know. Returns
// invalid_argument with the key in the trigger ("trigger.interval: …").
Status check(const InstanceSchedule& schedule);

}  // namespace lockstep
