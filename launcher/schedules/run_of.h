#pragma once
// The job that a run of a schedule submits. Pure.

#include <functional>
#include <string>

#include "launcher/schedules/schedule_table.h"

namespace lockstep::launcher {

// "retrain-20260131T080000Z", as Azure names it after the time of the trigger.
std::string run_name(const std::string& schedule, Instant due);
// The same; with the run's number at its end if there is such a job already.
JobId free_run_name(const Schedule& schedule, Instant due,
                    const std::function<bool(const JobId&)>& is_taken);
// Submit::submission of its next run: sent twice, it makes one job. Another schedule of the same
// name, created later, has others.
std::string submission_of_run(const Schedule& schedule);

// What kTriggerTime stands for: "2026-01-31T08:00:00Z".
std::string trigger_time(Instant due);
// The schedule's job with this name, and with the values of its expressions.
JobSpec job_of_run(const Schedule& schedule, const JobId& name, Instant due);

}  // namespace lockstep::launcher
