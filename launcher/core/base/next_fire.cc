#include "launcher/core/base/next_fire.h"

#include <algorithm>
#include <vector>

#include "common/domain/targets/calendar.h"
#include "common/domain/targets/cron.h"

namespace lockstep::launcher {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month;
using std::chrono::year_month_day;

constexpr int kDaysToSearch = 36'600;
// The longest run of local times that is skipped or repeated where a clock changes. A zone that
// crossed the date line skipped a whole day.
constexpr int kMostRepeated = 2 * 24 * 60;

int months_between(const year_month_day& from, const year_month_day& to) {
  return static_cast<int>(
      (year_month(to.year(), to.month()) - year_month(from.year(), from.month())).count());
}

sys_days monday_before(sys_days day) {
  return day - (std::chrono::weekday(day) - std::chrono::Monday);
}

// The local times of a recurrence by days, weeks or months.
class CalendarTimes {
 public:
  CalendarTimes(const Recurrence& recurrence, LocalTime start)
      : recurrence_(recurrence), start_(day_of(start)) {
    const std::int64_t second = second_of_day(start);
    const bool has_times = !recurrence.hours.empty() || !recurrence.minutes.empty();
    std::vector<int> hours = recurrence.hours, minutes = recurrence.minutes;
    if (minutes.empty()) minutes = {hours.empty() ? static_cast<int>(second / 60 % 60) : 0};
    if (hours.empty()) hours = {static_cast<int>(second / 3600)};
    for (const int hour : hours)
      for (const int minute : minutes)
        seconds_.push_back(hour * 3600 + minute * 60 + (has_times ? 0 : second % 60));
    std::sort(seconds_.begin(), seconds_.end());
  }

  // The first such time at or after `from`.
  std::optional<LocalTime> next(LocalTime from) const {
    sys_days day = std::max(day_of(from), start_);
    for (int i = 0; i < kDaysToSearch; ++i, day += days(1)) {
      if (!is_day(day)) continue;
      for (const std::int64_t second : seconds_)
        if (const LocalTime time = at_second(day, second); time >= from) return time;
    }
    return std::nullopt;
  }

 private:
  bool is_day(sys_days day) const {
    switch (recurrence_.frequency) {
      case Frequency::minute:
      case Frequency::hour: return false;  // counts elapsed time, not local times
      case Frequency::day: return (day - start_).count() % recurrence_.interval == 0;
      case Frequency::week: return is_in_week(day);
      case Frequency::month: return is_in_month(day);
    }
    return false;
  }
  bool is_in_week(sys_days day) const {
    const auto weeks = (monday_before(day) - monday_before(start_)).count() / 7;
    const auto of = [](sys_days one) {
      return static_cast<int>(std::chrono::weekday(one).c_encoding());
    };
    const auto& wanted = recurrence_.week_days;
    return weeks % recurrence_.interval == 0 &&
           (wanted.empty() ? of(day) == of(start_)
                           : std::find(wanted.begin(), wanted.end(), of(day)) != wanted.end());
  }
  bool is_in_month(sys_days day) const {
    const year_month_day date(day), start(start_);
    if (months_between(start, date) % recurrence_.interval != 0) return false;
    const int last = last_day_of(year_month(date.year(), date.month()));
    const auto is_today = [&](int wanted) {
      return std::min(wanted, last) == static_cast<int>(static_cast<unsigned>(date.day()));
    };
    const auto& wanted = recurrence_.month_days;
    return wanted.empty() ? is_today(static_cast<int>(static_cast<unsigned>(start.day())))
                          : std::any_of(wanted.begin(), wanted.end(), is_today);
  }

  const Recurrence& recurrence_;
  const sys_days start_;
  std::vector<std::int64_t> seconds_;  // the seconds of a day, sorted
};

struct Firing {
  const Trigger& trigger;
  const Instant start;  // no earlier time is returned
  const Instant after;
  const Instant end;
  const TimeZones& zones;
  const std::string& zone;

  std::optional<Instant> operator()(const CronTrigger& when) const {
    const auto cron = parse_cron(when.expression);
    if (!cron) return std::nullopt;
    return first([&](LocalTime from) { return next_match(*cron, from); });
  }
  std::optional<Instant> operator()(const Recurrence& when) const {
    if (when.frequency == Frequency::minute) return elapsed(when.interval * minutes(1));
    if (when.frequency == Frequency::hour) return elapsed(when.interval * minutes(60));
    const CalendarTimes times(when, trigger.start_time.value_or(zones.local(zone, start)));
    return first([&](LocalTime from) { return times.next(from); });
  }

  std::optional<Instant> elapsed(Duration period) const {
    if (start > after) return within(start);
    return within(start + ((after - start) / period + 1) * period);
  }
  // The first time of a kind. `next` returns the first local time at or after its argument.
  template <typename Next>
  std::optional<Instant> first(const Next& next) const {
    LocalTime from = zones.local(zone, std::max(start, after));
    for (int i = 0; i < kMostRepeated; ++i) {
      const std::optional<LocalTime> local = next(from);
      if (!local) return std::nullopt;
      const Instant time = zones.instant(zone, *local);
      if (time > after && time >= start) return within(time);
      from = {local->seconds + 1};
    }
    return std::nullopt;
  }
  std::optional<Instant> within(Instant time) const {
    return time <= end ? std::optional(time) : std::nullopt;
  }
};

}  // namespace

std::optional<Instant> next_fire(const Trigger& trigger, Instant anchor, Instant after,
                                 const TimeZones& zones) {
  const std::string zone = trigger.time_zone.empty() ? std::string(kUtc) : trigger.time_zone;
  if (!zones.has(zone)) return std::nullopt;
  const Instant start = trigger.start_time ? zones.instant(zone, *trigger.start_time) : anchor;
  const Instant end =
      trigger.end_time ? zones.instant(zone, *trigger.end_time) : Instant::never() - seconds(1);
  // Times before the trigger was set are not made up for.
  return std::visit(Firing{trigger, start, std::max(after, anchor), end, zones, zone},
                    trigger.when);
}

std::optional<Instant> last_fire(const Trigger& trigger, Instant anchor, Instant after,
                                 Instant until, const TimeZones& zones) {
  // Searches backwards in growing steps, so that a trigger of every minute stays cheap after a
  // year.
  for (Duration back = minutes(60);; back *= 2) {
    const Instant from = until - after <= back ? after : until - back;
    std::optional<Instant> last;
    for (auto time = next_fire(trigger, anchor, from, zones); time && *time <= until;
         time = next_fire(trigger, anchor, *time, zones))
      last = time;
    if (last || from == after) return last;
  }
}

const TimeZones& zones_of(const CoreConfig& config) {
  static const OnlyUtc kOnlyUtc;
  return config.zones == nullptr ? kOnlyUtc : *config.zones;
}

std::string zone_of(const Trigger& trigger) {
  return trigger.time_zone.empty() ? std::string(kUtc) : trigger.time_zone;
}

}  // namespace lockstep::launcher
