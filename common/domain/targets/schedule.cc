#include "common/domain/targets/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "common/domain/targets/cron.h"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 7> kWeekDays{"sunday",   "monday", "tuesday", "wednesday",
                                                    "thursday", "friday", "saturday"};

Error wrong(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

Status check_list(std::string_view key, const std::vector<int>& values, int least, int most) {
  if (values.size() > static_cast<std::size_t>(most - least + 1))
    return wrong(fmt::format("trigger.schedule.{}: has {} values", key, values.size()));
  for (const int value : values)
    if (value < least || value > most)
      return wrong(fmt::format("trigger.schedule.{}: {} is not a number from {} to {}", key, value,
                               least, most));
  return {};
}

Status check(const Recurrence& recurrence) {
  if (recurrence.interval < 1 || recurrence.interval > kMaxInterval)
    return wrong(fmt::format("trigger.interval: {} is not a number from 1 to {}",
                             recurrence.interval, kMaxInterval));
  TRY(check_list("hours", recurrence.hours, 0, 23));
  TRY(check_list("minutes", recurrence.minutes, 0, 59));
  TRY(check_list("week_days", recurrence.week_days, 0, 6));
  TRY(check_list("month_days", recurrence.month_days, 1, 31));
  const bool is_elapsed =
      recurrence.frequency == Frequency::minute || recurrence.frequency == Frequency::hour;
  if (is_elapsed && !(recurrence.hours.empty() && recurrence.minutes.empty()))
    return wrong(
        fmt::format("trigger.schedule: hours and minutes are for the frequencies day, week "
                    "and month; the recurrence's frequency is {}",
                    to_string(recurrence.frequency)));
  if (recurrence.frequency != Frequency::week && !recurrence.week_days.empty())
    return wrong(
        fmt::format("trigger.schedule.week_days: is for the frequency week; the recurrence's is {}",
                    to_string(recurrence.frequency)));
  if (recurrence.frequency != Frequency::month && !recurrence.month_days.empty())
    return wrong(fmt::format(
        "trigger.schedule.month_days: is for the frequency month; the recurrence's is {}",
        to_string(recurrence.frequency)));
  return {};
}

Status check(const CronTrigger& trigger) {
  const auto cron = parse_cron(trigger.expression);
  return cron ? Status{} : wrong("trigger.expression: " + cron.error().message);
}

std::string words_of(const CronTrigger& trigger) {
  return fmt::format("cron '{}'", trigger.expression);
}
std::string words_of(const Recurrence& recurrence) {
  const std::string_view unit = to_string(recurrence.frequency);
  return recurrence.interval == 1 ? fmt::format("every {}", unit)
                                  : fmt::format("every {} {}s", recurrence.interval, unit);
}

}  // namespace

Word describe(Frequency frequency) {
  switch (frequency) {
    case Frequency::minute: return {1, "minute"};
    case Frequency::hour: return {2, "hour"};
    case Frequency::day: return {3, "day"};
    case Frequency::week: return {4, "week"};
    case Frequency::month: return {5, "month"};
  }
  return {};
}
std::string_view to_string(Frequency frequency) { return describe(frequency).word; }

std::optional<Frequency> frequency_from(std::string_view word) {
  return with_word<Frequency>(word);
}

std::string_view week_day_name(int week_day) {
  const auto index = static_cast<std::size_t>(week_day);
  return index < kWeekDays.size() ? kWeekDays[index] : std::string_view("?");
}

std::optional<int> week_day_from(std::string_view word) {
  std::string low(word);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (std::size_t i = 0; i < kWeekDays.size(); ++i)
    if (kWeekDays[i] == low || kWeekDays[i].substr(0, 3) == low) return static_cast<int>(i);
  return std::nullopt;
}

std::string to_string(const Trigger& trigger) {
  return fmt::format("{}, {}",
                     std::visit([](const auto& when) { return words_of(when); }, trigger.when),
                     trigger.time_zone.empty() ? kUtc : std::string_view(trigger.time_zone));
}

Word describe(InstanceAction action) {
  switch (action) {
    case InstanceAction::start: return {0, "start"};
    case InstanceAction::stop: return {1, "stop"};
  }
  return {};
}
std::string_view to_string(InstanceAction action) { return describe(action).word; }

std::string schedule_path(std::size_t index) {
  return fmt::format("schedules.compute_start_stop[{}]", index);
}

Status check(const InstanceSchedule& schedule) {
  const Trigger& trigger = schedule.trigger;
  TRY(std::visit([](const auto& when) { return check(when); }, trigger.when));
  if (trigger.time_zone.size() > kMaxTimeZoneBytes || !is_printable(trigger.time_zone))
    return wrong(
        fmt::format("trigger.time_zone: is not the name of a time zone (at most {} "
                    "printable characters)",
                    kMaxTimeZoneBytes));
  if (trigger.start_time && trigger.end_time && *trigger.end_time < *trigger.start_time)
    return wrong("trigger.end_time: is before start_time");
  return {};
}

}  // namespace lockstep
