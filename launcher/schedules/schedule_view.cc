#include "launcher/schedules/schedule_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "common/base/match.h"
#include "launcher/schedules/due_times.h"

namespace lockstep::launcher {
namespace {

// A launcher whose clock was right has fired nothing later than this.
constexpr Duration kAheadAtMost = minutes(5);

std::string why_not_now(const Schedule& schedule, Instant now, const TimeZones& zones) {
  if (!schedule.enabled) return "it is disabled";
  if (!schedule.paused_by.empty()) return "it is paused by " + schedule.paused_by;
  if (const auto wrong = wrong_zone(schedule.text.trigger, zones))
    return "the launcher's machine does not know its time zone, so it never fires: " +
           wrong->message + "; or install tzdata there";
  if (schedule.seen > now + kAheadAtMost)
    return fmt::format(
        "it has fired for {}, so the launcher's clock was set back since; it goes "
        "on after that time, or when it is disabled and enabled again",
        local_text(schedule.text.trigger, schedule.seen, zones));
  const auto next = next_time(schedule, schedule.seen, zones);
  if (!next) return "no time is left before its end";
  if (!schedule.is_blocked() || *next > now) return "";
  const std::string& run = schedule.open.begin()->second.value;
  switch (schedule.text.overlap) {
    case Overlap::allow:
      return fmt::format("{} runs have not ended, the most possible", schedule.open.size());
    case Overlap::queue: return fmt::format("a run is due, and waits for the end of '{}'", run);
    case Overlap::forbid: return fmt::format("'{}' has not ended", run);
  }
  return "";
}

ScheduleEntryView view_of(const ScheduleEntry& entry) {
  ScheduleEntryView view;
  view.due = entry.due.at;
  view.at = entry.at;
  view.missed = entry.due.missed;
  view.missed_more = entry.due.missed_more;
  std::visit(Match{[&](const ScheduleEntry::Run& run) {
                     view.cause = run.cause;
                     view.by = run.by;
                     view.run = run.number;
                     view.job = run.job;
                     view.ended = run.ended;
                   },
                   [&](const WhyPassed& why) { view.why_none = words_of(why); }},
             entry.what);
  return view;
}

}  // namespace

std::string words_of(const WhyPassed& why) {
  return std::visit(
      Match{[](const RunGoesOn& other) {
              return fmt::format("run '{}' had not ended", other.job.value);
            },
            [](const TooManyRuns&) {
              return fmt::format("{} runs had not ended, the most possible", kMaxOpenRuns);
            },
            [](const RunRefused& refusal) { return "the job was refused: " + refusal.message; }},
      why);
}

ScheduleView view_of(const Schedule& schedule, Instant now, const TimeZones& zones) {
  ScheduleView view;
  view.schedule = schedule.text;
  view.owner = schedule.owner;
  view.created = schedule.created;
  view.changed = schedule.changed;
  view.enabled = schedule.enabled;
  view.paused_by = schedule.paused_by;
  if (schedule.is_active()) view.next = next_time(schedule, std::max(schedule.seen, now), zones);
  if (view.next) view.next_local = local_text(schedule.text.trigger, *view.next, zones);
  view.reason = why_not_now(schedule, now, zones);
  for (const auto& [run, job] : schedule.open) view.open.push_back(job);
  view.runs = schedule.runs;
  view.passed = schedule.passed;
  view.missed = schedule.missed;
  for (const ScheduleEntry& entry : schedule.recent) view.recent.push_back(view_of(entry));
  return view;
}

}  // namespace lockstep::launcher
