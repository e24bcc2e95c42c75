#include "common/domain/why/nodes/targets.h"

#include <utility>

namespace lockstep {

ScheduleTimes times_of(const Trigger& trigger) {
  ScheduleTimes times;
  times.time_zone = trigger.time_zone;
  if (const auto* cron = std::get_if<CronTrigger>(&trigger.when)) times.cron = cron->expression;
  if (const auto* every = std::get_if<Recurrence>(&trigger.when))
    times.recurrence = RecurrenceTimes{every->frequency, every->interval,  every->hours,
                                       every->minutes,   every->week_days, every->month_days};
  return times;
}

Trigger trigger_of(const ScheduleTimes& times) {
  Trigger trigger;
  trigger.time_zone = times.time_zone;
  if (times.cron) {
    trigger.when = CronTrigger{*times.cron};
  } else {
    const RecurrenceTimes every = times.recurrence.value_or(RecurrenceTimes{});
    trigger.when = Recurrence{every.frequency, every.interval,  every.hours,
                              every.minutes,   every.week_days, every.month_days};
  }
  return trigger;
}

}  // namespace lockstep
