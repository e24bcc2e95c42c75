#include "tests/unit/launcher/schedules/minute_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace lockstep::launcher::test {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;
using std::chrono::year_month_day_last;

std::int64_t floored(std::int64_t number, std::int64_t by) {
  return number / by - (number % by < 0 ? 1 : 0);
}

// What a local minute is on a calendar.
struct Shown {
  explicit Shown(std::int64_t local_minute)
      : day(days(floored(local_minute, 24 * 60))),
        date(day),
        minute_of_day(static_cast<int>(local_minute - floored(local_minute, 24 * 60) * 24 * 60)),
        week_day(static_cast<int>(std::chrono::weekday(day).c_encoding())) {}
  int minute() const { return minute_of_day % 60; }
  int hour() const { return minute_of_day / 60; }
  int day_of_month() const { return static_cast<int>(static_cast<unsigned>(date.day())); }
  int month() const { return static_cast<int>(static_cast<unsigned>(date.month())); }
  int months() const { return static_cast<int>(date.year()) * 12 + month(); }
  int last_day() const {
    const year_month_day_last last(date.year(), std::chrono::month_day_last(date.month()));
    return static_cast<int>(static_cast<unsigned>(last.day()));
  }

  sys_days day;
  year_month_day date;
  int minute_of_day;
  int week_day;
};

bool has(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool is_time(const Recurrence& recurrence, const Shown& start, const Shown& shown) {
  const auto& hours = recurrence.hours;
  const auto& minutes = recurrence.minutes;
  if (hours.empty() && minutes.empty()) return shown.minute_of_day == start.minute_of_day;
  const bool is_hour = hours.empty() ? shown.hour() == start.hour() : has(hours, shown.hour());
  const bool is_minute = minutes.empty() ? shown.minute() == 0 : has(minutes, shown.minute());
  return is_hour && is_minute;
}

bool is_day(const Recurrence& recurrence, const Shown& start, const Shown& shown) {
  if (shown.day < start.day) return false;
  const auto monday = [](const Shown& one) { return one.day - days((one.week_day + 6) % 7); };
  switch (recurrence.frequency) {
    case Frequency::minute:
    case Frequency::hour: return false;
    case Frequency::day: return (shown.day - start.day).count() % recurrence.interval == 0;
    case Frequency::week:
      return (monday(shown) - monday(start)).count() / 7 % recurrence.interval == 0 &&
             (recurrence.week_days.empty() ? shown.week_day == start.week_day
                                           : has(recurrence.week_days, shown.week_day));
    case Frequency::month: {
      if ((shown.months() - start.months()) % recurrence.interval != 0) return false;
      std::vector<int> wanted = recurrence.month_days;
      if (wanted.empty()) wanted = {start.day_of_month()};
      for (int& day : wanted) day = std::min(day, shown.last_day());
      return has(wanted, shown.day_of_month());
    }
  }
  return false;
}

int pick(std::mt19937& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

// `listed`: the highest value that a list has, so that no expression names days that never come.
ModelField random_field(std::mt19937& random, int least, int most, int listed, int of_ten_stars) {
  ModelField field;
  if (pick(random, 1, 10) <= of_ten_stars) {
    field.is_star = true;
    const int step = pick(random, 0, 2) == 0 ? pick(random, 2, std::min(most, 20)) : 1;
    field.text = step == 1 ? "*" : fmt::format("*/{}", step);
    for (int value = least; value <= most; value += step) field.values.insert(value);
    return field;
  }
  for (int count = pick(random, 1, 4); count > 0; --count)
    field.values.insert(pick(random, least, listed));
  field.text = fmt::format("{}", fmt::join(field.values, ","));
  return field;
}

ModelTrigger random_cron(std::mt19937& random) {
  ModelTrigger trigger;
  trigger.minute = random_field(random, 0, 59, 59, 4);
  trigger.hour = random_field(random, 0, 23, 23, 5);
  trigger.day = random_field(random, 1, 31, 28, 7);
  trigger.month = random_field(random, 1, 12, 12, 9);
  trigger.week_day = random_field(random, 0, 6, 6, 7);
  trigger.trigger.when =
      CronTrigger{fmt::format("{} {} {} {} {}", trigger.minute.text, trigger.hour.text,
                              trigger.day.text, trigger.month.text, trigger.week_day.text)};
  return trigger;
}

std::vector<int> some(std::mt19937& random, int least, int most) {
  std::set<int> values;
  for (int count = pick(random, 0, 4); count > 0; --count) values.insert(pick(random, least, most));
  return {values.begin(), values.end()};
}

ModelTrigger random_recurrence(std::mt19937& random, LocalTime from) {
  Recurrence recurrence;
  recurrence.interval = pick(random, 1, 3);
  recurrence.hours = some(random, 0, 23);
  recurrence.minutes = some(random, 0, 59);
  switch (pick(random, 0, 2)) {
    case 0: recurrence.frequency = Frequency::day; break;
    case 1:
      recurrence.frequency = Frequency::week;
      recurrence.week_days = some(random, 0, 6);
      break;
    default: recurrence.frequency = Frequency::month; recurrence.month_days = some(random, 1, 31);
  }
  ModelTrigger trigger;
  trigger.trigger.when = std::move(recurrence);
  trigger.trigger.start_time =
      LocalTime{floored(from.seconds, 60) * 60 - std::int64_t{pick(random, 0, 40 * 24 * 60)} * 60};
  return trigger;
}

}  // namespace

std::vector<ModelMinute> minutes_between(const TimeZones& zones, const std::string& zone,
                                         Instant begin, Instant end) {
  const auto shown_at = [&](Instant time) { return floored(zones.local(zone, time).seconds, 60); };
  std::vector<ModelMinute> all;
  // What a clock has shown before it was set back is shown again within these days.
  const Instant first = begin - std::chrono::hours(3 * 24);
  std::int64_t highest = shown_at(first);
  for (Instant at = first + minutes(1); at < end; at = at + minutes(1)) {
    const std::int64_t shown = std::max(highest, shown_at(at));
    if (at >= begin) all.push_back({at, highest, shown});
    highest = shown;
  }
  return all;
}

ModelTrigger random_trigger(std::mt19937& random, const std::string& zone, LocalTime from) {
  ModelTrigger trigger =
      pick(random, 0, 2) == 0 ? random_recurrence(random, from) : random_cron(random);
  trigger.trigger.time_zone = zone;
  return trigger;
}

bool names(const ModelTrigger& trigger, std::int64_t local_minute) {
  const Shown shown(local_minute);
  if (const auto* recurrence = std::get_if<Recurrence>(&trigger.trigger.when)) {
    const Shown start(floored(trigger.trigger.start_time->seconds, 60));
    return is_day(*recurrence, start, shown) && is_time(*recurrence, start, shown);
  }
  const bool in_month = trigger.day.values.contains(shown.day_of_month());
  const bool in_week = trigger.week_day.values.contains(shown.week_day);
  const bool is_both = trigger.day.is_star || trigger.week_day.is_star;
  return trigger.minute.values.contains(shown.minute()) &&
         trigger.hour.values.contains(shown.hour()) &&
         trigger.month.values.contains(shown.month()) &&
         (is_both ? in_month && in_week : in_month || in_week);
}

std::vector<Instant> times_of(const ModelTrigger& trigger, const std::vector<ModelMinute>& minutes,
                              Instant start, Instant after) {
  std::vector<Instant> times;
  for (const ModelMinute& minute : minutes) {
    if (minute.at <= after || minute.at < start) continue;
    bool is_named = false;
    for (std::int64_t local = minute.after + 1; local <= minute.shown && !is_named; ++local)
      is_named = names(trigger, local);
    if (is_named) times.push_back(minute.at);
  }
  return times;
}

}  // namespace lockstep::launcher::test
