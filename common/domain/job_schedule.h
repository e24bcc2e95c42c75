#pragma once
// A schedule of a job: when it fires, and which job each firing submits. Plain values and their
// checks; launcher/schedules decides what follows from them. docs/decisions/093-schedules.md.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/job_spec.h"
#include "common/domain/schedule.h"
#include "common/domain/views.h"

namespace lockstep {

// What happens at a time of the schedule while an earlier run has not ended.
enum class Overlap {
  allow,   // another run starts beside it
  queue,   // a run starts when it has ended; one, however many times passed meanwhile
  forbid,  // no run starts for the times that pass meanwhile
};
std::string_view to_string(Overlap overlap);
std::optional<Overlap> overlap_from(std::string_view word);
inline constexpr Overlap kOverlaps[] = {Overlap::allow, Overlap::queue, Overlap::forbid};

struct JobSchedule {
  std::string name;
  std::string display_name, description;
  std::map<std::string, std::string> tags;
  Trigger trigger;
  Overlap overlap = Overlap::allow;
  bool enabled = true;  // when it is created
  // Of each run, without a name. Its texts may have kRunName and kTriggerTime.
  JobSpec job;
  friend bool operator==(const JobSchedule&, const JobSchedule&) = default;
};

// Leaves room in a job's name for the time and the number of a run.
inline constexpr std::size_t kMaxScheduleNameBytes = 200;
inline constexpr std::size_t kMaxJobSchedules = 10'000;  // of a launcher
inline constexpr std::size_t kMaxOpenRuns = 100;         // of one schedule; with more, none starts

// invalid_argument: the message begins with the key ("trigger.interval: …"). The job is checked by
// itself, and whether there is such a time zone by those who have zones.
Status check(const JobSchedule& schedule);
// A name is 1-200 characters of [A-Za-z0-9_-], starting with a letter or a digit.
Status validate_schedule_name(const std::string& name);

// Whether it also fires when it is created, as on Azure: a recurrence that leaves its start, its
// times and its days open counts from its creation, so that this is its first time.
bool fires_when_created(const JobSchedule& schedule);

// Azure's expressions for what differs from run to run. Values of literal inputs may have them, and
// so what these are put into.
inline constexpr std::string_view kRunName = "${{name}}";
inline constexpr std::string_view kTriggerTime = "${{creation_context.trigger_time}}";

// Replaces texts in the job's command, variables and literal inputs, and in those of its steps.
// What was put in is not looked at again.
using Replacements = std::vector<std::pair<std::string, std::string>>;
void replace_in_texts(JobSpec& job, const Replacements& replacements);
std::string replaced(std::string_view text, const Replacements& replacements);

// ---- views -------------------------------------------------------------------------------------

enum class FiringCause {
  time,    // of the trigger
  person,  // somebody asked for a run
};
std::string_view to_string(FiringCause cause);

// A run of a schedule, or times for which none was started.
struct ScheduleEntryView {
  Instant due;  // the time of the trigger; of several, the last one
  Instant at;   // when the launcher acted on it
  FiringCause cause = FiringCause::time;
  std::string by;            // who asked for it; "": the trigger
  std::uint64_t missed = 0;  // earlier times since the entry before, which got no run of their own
  bool missed_more = false;  // `missed` ends at a limit: there may be more
  std::uint64_t run = 0;     // its number; 0: no run was started
  JobId job;
  std::optional<JobStatus> ended;  // of the job; absent: it has not ended, or there is none
  std::string why_none;            // why no run was started
  friend bool operator==(const ScheduleEntryView&, const ScheduleEntryView&) = default;
};

struct ScheduleView {
  JobSchedule schedule;
  std::string owner;
  Instant created, changed;
  bool enabled = true;
  std::string paused_by;  // the operator who paused it; "": nobody
  std::optional<Instant> next;
  std::string next_local;   // "2026-03-29T08:00:00 Europe/Berlin"
  std::string reason;       // why it does not fire now or at all; "": it does at `next`
  std::vector<JobId> open;  // runs that have not ended, oldest first
  std::uint64_t runs = 0, passed = 0, missed = 0;  // since it was created
  std::vector<ScheduleEntryView> recent;           // oldest first
  friend bool operator==(const ScheduleView&, const ScheduleView&) = default;
};

}  // namespace lockstep
