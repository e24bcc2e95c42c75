#include "launcher/schedules/run_of.h"

#include <fmt/format.h>

#include "common/domain/calendar.h"
#include "common/domain/time_zones.h"

namespace lockstep::launcher {
namespace {

LocalTime in_utc(Instant time) { return OnlyUtc().local(std::string(kUtc), time); }

}  // namespace

std::string run_name(const std::string& schedule, Instant due) {
  const LocalTime time = in_utc(due);
  const std::chrono::year_month_day date(day_of(time));
  const std::int64_t second = second_of_day(time);
  return fmt::format("{}-{:04}{:02}{:02}T{:02}{:02}{:02}Z", schedule, static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     second / 3600, second / 60 % 60, second % 60);
}

JobId free_run_name(const Schedule& schedule, Instant due,
                    const std::function<bool(const JobId&)>& is_taken) {
  const std::string name = run_name(schedule.text.name, due);
  if (!is_taken(JobId(name))) return JobId(name);
  return JobId(fmt::format("{}-{}", name, schedule.runs + 1));
}

std::string submission_of_run(const Schedule& schedule) {
  return fmt::format("schedule:{}:{}:{}", schedule.text.name, schedule.created.ns,
                     schedule.runs + 1);
}

std::string trigger_time(Instant due) { return to_string(in_utc(due)) + "Z"; }

JobSpec job_of_run(const Schedule& schedule, const JobId& name, Instant due) {
  JobSpec job = schedule.text.job;
  job.name = name.value;
  replace_in_texts(
      job, {{std::string(kRunName), name.value}, {std::string(kTriggerTime), trigger_time(due)}});
  return job;
}

}  // namespace lockstep::launcher
