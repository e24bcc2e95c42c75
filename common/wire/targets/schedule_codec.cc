#include "common/wire/targets/schedule_codec.h"
#include "common/domain/targets/cron.h"
#include "common/wire/why_codec.h"

#include <climits>

namespace lockstep::pb {
namespace {

// On the wire and in journals, for ever.
int number_of(InstanceAction action) {
  switch (action) {
    case InstanceAction::start: return 0;
    case InstanceAction::stop: return 1;
  }
  return 0;
}
Status read_action(int number, InstanceAction* to) {
  if (number < 0 || number > 1) return bad_field("action", "is none that this version knows");
  *to = number == 1 ? InstanceAction::stop : InstanceAction::start;
  return {};
}

int number_of(Frequency frequency) {
  switch (frequency) {
    case Frequency::minute: return 1;
    case Frequency::hour: return 2;
    case Frequency::day: return 3;
    case Frequency::week: return 4;
    case Frequency::month: return 5;
  }
  return 0;
}
Status read_frequency(int number, Frequency* to) {
  for (const Frequency frequency :
       {Frequency::minute, Frequency::hour, Frequency::day, Frequency::week, Frequency::month}) {
    if (number_of(frequency) != number) continue;
    *to = frequency;
    return {};
  }
  return bad_field("recurrence.frequency", "is none that this version knows");
}

constexpr int kMostNumbers = 128;  // of one list

Status read_numbers(const google::protobuf::RepeatedField<std::int32_t>& from, const char* field,
                    std::vector<int>* to) {
  if (from.size() > kMostNumbers) return bad_field(field, "has too many values");
  for (const std::int32_t one : from) {
    TRY(read_number(one, 0, INT_MAX, field, &to->emplace_back()));
  }
  return {};
}

void write(const lockstep::Recurrence& from, Recurrence* to) {
  to->set_frequency(number_of(from.frequency));
  to->set_interval(from.interval);
  to->mutable_hours()->Add(from.hours.begin(), from.hours.end());
  to->mutable_minutes()->Add(from.minutes.begin(), from.minutes.end());
  to->mutable_week_days()->Add(from.week_days.begin(), from.week_days.end());
  to->mutable_month_days()->Add(from.month_days.begin(), from.month_days.end());
}
Status read(const Recurrence& from, lockstep::Recurrence* to) {
  TRY(read_frequency(from.frequency(), &to->frequency));
  TRY(read_number(from.interval(), 0, INT_MAX, "recurrence.interval", &to->interval));
  TRY(read_numbers(from.hours(), "recurrence.hours", &to->hours));
  TRY(read_numbers(from.minutes(), "recurrence.minutes", &to->minutes));
  TRY(read_numbers(from.week_days(), "recurrence.week_days", &to->week_days));
  return read_numbers(from.month_days(), "recurrence.month_days", &to->month_days);
}

// Twice the range that a file may have, so that no sum of times overflows.
Status read_local(std::int64_t from, const char* field, std::optional<LocalTime>* to) {
  constexpr std::int64_t kMost = 2 * 4'133'980'800;  // 2101-01-01T00:00:00
  if (from < 0 || from > kMost) return bad_field(field, "is not a time of day of these centuries");
  *to = LocalTime{from};
  return {};
}

}  // namespace

int number_of(InstanceCause cause) {
  switch (cause) {
    case InstanceCause::user: return 0;
    case InstanceCause::schedule: return 1;
    case InstanceCause::idle: return 2;
  }
  return 0;
}
Status read_cause(int number, InstanceCause* to) {
  for (const InstanceCause cause :
       {InstanceCause::user, InstanceCause::schedule, InstanceCause::idle}) {
    if (number_of(cause) != number) continue;
    *to = cause;
    return {};
  }
  return bad_field("instance.cause", "is none that this version knows");
}

void to_wire(const lockstep::InstanceSchedule& from, InstanceSchedule* to) {
  to->set_action(number_of(from.action));
  to->set_disabled(!from.enabled);
  if (const auto* cron = std::get_if<CronTrigger>(&from.trigger.when))
    to->set_cron(cron->expression);
  if (const auto* recurrence = std::get_if<lockstep::Recurrence>(&from.trigger.when))
    write(*recurrence, to->mutable_recurrence());
  if (from.trigger.start_time) to->set_start_time_s(from.trigger.start_time->seconds);
  if (from.trigger.end_time) to->set_end_time_s(from.trigger.end_time->seconds);
  to->set_time_zone(from.trigger.time_zone);
}
Status from_wire(const InstanceSchedule& from, lockstep::InstanceSchedule* to) {
  TRY(read_action(from.action(), &to->action));
  to->enabled = !from.disabled();
  if (from.has_recurrence()) {
    TRY(read(from.recurrence(), &to->trigger.when.emplace<lockstep::Recurrence>()));
  } else {
    TRY(read_text(from.cron(), "schedule.cron", &to->trigger.when.emplace<CronTrigger>().expression,
                  2 * kMaxCronBytes));
  }
  if (from.has_start_time_s()) {
    TRY(read_local(from.start_time_s(), "schedule.start_time", &to->trigger.start_time));
  }
  if (from.has_end_time_s()) {
    TRY(read_local(from.end_time_s(), "schedule.end_time", &to->trigger.end_time));
  }
  return read_text(from.time_zone(), "schedule.time_zone", &to->trigger.time_zone,
                   2 * kMaxTimeZoneBytes);
}

void to_wire(const lockstep::InstanceView& from, InstanceView* to) {
  to->set_state(from.state);
  to->set_changed_ns(from.changed.ns);
  to->set_cause(number_of(from.cause));
  to->set_why(fitting_text(from.why));
  to->set_next_action(number_of(from.next_action));
  to->set_next_at_ns(from.next_at.ns);
  to->set_next_local(from.next_local);
  to->set_problem(from.problem);
  if (from.why_data) to_wire(from.why_data, to->mutable_why_data());
  if (from.problem_data) to_wire(from.problem_data, to->mutable_problem_data());
}
Status from_wire(const InstanceView& from, lockstep::InstanceView* to) {
  TRY(read_text(from.state(), "instance.state", &to->state));
  TRY(read_instant(from.changed_ns(), "instance.changed", &to->changed));
  TRY(read_cause(from.cause(), &to->cause));
  TRY(read_text(from.why(), "instance.why", &to->why));
  TRY(from_wire(from.why_data(), &to->why_data));
  TRY(from_wire(from.problem_data(), &to->problem_data));
  TRY(read_action(from.next_action(), &to->next_action));
  TRY(read_instant(from.next_at_ns(), "instance.next_at", &to->next_at));
  TRY(read_text(from.next_local(), "instance.next_local", &to->next_local));
  return read_text(from.problem(), "instance.problem", &to->problem);
}

}  // namespace lockstep::pb
