#pragma once
// One schedule with its table, driven as the launcher drives it: what is due makes facts, and these
// are applied. It keeps all facts, so that a replay can be compared.

#include <string>
#include <utility>
#include <vector>

#include "launcher/schedules/due_times.h"
#include "launcher/schedules/firing.h"
#include "launcher/schedules/run_of.h"
#include "launcher/schedules/schedule_clock.h"
#include "launcher/schedules/schedule_table.h"
#include "tests/unit/launcher/schedules/zones.h"

namespace lockstep::launcher::test {

inline JobSchedule schedule_of(Trigger trigger, Overlap overlap = Overlap::allow) {
  JobSchedule schedule;
  schedule.name = "retrain";
  schedule.trigger = std::move(trigger);
  schedule.overlap = overlap;
  schedule.job.command = ShellCommand{"python3 train.py"};
  return schedule;
}
inline Trigger cron_trigger(const std::string& expression, const std::string& zone = "") {
  return {CronTrigger{expression}, {}, {}, zone};
}

struct ScheduleWorld {
  ScheduleTable table;
  ScheduleClock clock;
  std::vector<std::pair<Instant, ScheduleFact>> facts;
  std::string refuses;  // the next submissions, with these words; "": they are accepted

  void apply(Instant at, const ScheduleFact& fact) {
    facts.emplace_back(at, fact);
    table.apply(at, fact);
    clock.changed("retrain", table.find("retrain"), at, machine_zones());
  }
  const Schedule& schedule() const { return *table.find("retrain"); }

  void set(Instant at, const JobSchedule& schedule) {
    const bool is_new = table.find(schedule.name) == nullptr;
    apply(at, ScheduleSet{schedule, "ann", "ann", is_new && fires_when_created(schedule)});
  }
  void submit(Instant at, const StartRun& start) {
    if (!refuses.empty())
      return apply(at,
                   refused(schedule(), start, make_error(ErrorCode::resource_exhausted, refuses)));
    const JobId job = free_run_name(
        schedule(), start.due.at, [&](const JobId& name) { return table.of_run(name) != nullptr; });
    apply(at, fired(schedule(), start, job));
  }
  // What is due now.
  void look(Instant now) {
    if (table.find("retrain") == nullptr) return;
    while (const auto firing = firing_of(schedule(), now, machine_zones())) {
      if (const auto* start = std::get_if<StartRun>(&*firing))
        submit(now, *start);
      else
        apply(now, std::get<SchedulePassed>(*firing));
    }
  }
  bool ask(Instant now) {
    const auto start = asked_run(schedule(), now, "ann");
    if (start) submit(now, *start);
    return start.has_value();
  }
  void end(Instant at, const JobId& job, JobStatus status = JobStatus::completed) {
    apply(at, ScheduleRunEnded{job, status});
  }
  void end_first(Instant at) { end(at, schedule().open.begin()->second); }

  // "08:00 +2, none 09:00": the entries from `first` on, of times in UTC.
  std::string entries(std::size_t first = 0) const {
    std::string text;
    for (std::size_t i = first; i < schedule().recent.size(); ++i) {
      const ScheduleEntry& entry = schedule().recent[i];
      if (!text.empty()) text += ", ";
      const auto* run = std::get_if<ScheduleEntry::Run>(&entry.what);
      if (run == nullptr) text += "none ";
      if (run != nullptr && run->cause == FiringCause::person) text += "asked ";
      text += utc_text(entry.due.at).substr(11, 5);
      if (entry.due.missed > 0) text += " +" + std::to_string(entry.due.missed);
      if (entry.due.missed_more) text += "…";
    }
    return text;
  }
  std::string next(Instant now) const {
    return utc_text(next_look(schedule(), now, machine_zones()));
  }
};

}  // namespace lockstep::launcher::test
