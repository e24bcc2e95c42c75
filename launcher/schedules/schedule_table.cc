#include "launcher/schedules/schedule_table.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace lockstep::launcher {
namespace {

template <typename What>
void remember(Schedule& schedule, Instant at, const DueTime& due, What what) {
  ScheduleEntry& entry = schedule.recent.emplace_back();
  entry.at = at;
  entry.due = due;
  entry.what.emplace<What>(std::move(what));
  if (schedule.recent.size() > kMaxScheduleEntries) schedule.recent.pop_front();
}

// Times that passed while it was off are not made up for. If the clock was set back since it fired,
// it begins anew, as whoever switched it on asked for.
void begin_at(Schedule& schedule, Instant at) {
  schedule.seen = at;
  schedule.anchor = std::min(schedule.anchor, at);
  schedule.blocked.reset();
}

// Because of runs that have not ended; with Overlap::queue nothing passes without a run.
std::optional<WhyPassed> why_blocked(const Schedule& schedule) {
  if (!schedule.is_blocked()) return std::nullopt;
  switch (schedule.text.overlap) {
    case Overlap::allow: return TooManyRuns{};
    case Overlap::queue: return std::nullopt;
    case Overlap::forbid: return RunGoesOn{schedule.open.begin()->second};
  }
  return std::nullopt;
}

// `before`: why_blocked() before this change.
void unblock(Schedule& schedule, Instant at, std::optional<WhyPassed> before) {
  if (before && !schedule.is_blocked())
    schedule.blocked = Schedule::Blocked{at, *std::move(before)};
}

}  // namespace

bool Schedule::is_blocked() const {
  switch (text.overlap) {
    case Overlap::allow: return open.size() >= kMaxOpenRuns;
    case Overlap::queue:
    case Overlap::forbid: return !open.empty();
  }
  return false;
}

struct ScheduleTable::Applier {
  ScheduleTable& table;
  Instant at;

  void operator()(const ScheduleSet& fact) const {
    const auto [entry, is_new] = table.schedules_.try_emplace(fact.schedule.name);
    Schedule& schedule = entry->second;
    const bool has_new_trigger = is_new || schedule.text.trigger != fact.schedule.trigger;
    if (is_new) {
      schedule.owner = fact.owner;
      schedule.created = at;
      schedule.enabled = fact.schedule.enabled;
      ++table.by_owner_[fact.owner];
    }
    const auto blocked_before = why_blocked(schedule);
    schedule.text = fact.schedule;
    schedule.changed = at;
    unblock(schedule, at, blocked_before);
    if (!has_new_trigger) return;
    schedule.anchor = at;
    schedule.seen = is_new && fact.at_once ? at - Duration(1) : at;
    schedule.blocked.reset();
  }
  void operator()(const ScheduleSwitched& fact) const {
    Schedule& schedule = table.ref(fact.schedule);
    const bool was_active = schedule.is_active();
    schedule.enabled = fact.enabled;
    if (schedule.is_active() && !was_active) begin_at(schedule, at);
  }
  void operator()(const SchedulePaused& fact) const {
    Schedule& schedule = table.ref(fact.schedule);
    const bool was_active = schedule.is_active();
    schedule.paused_by = fact.paused ? fact.by : "";
    if (schedule.is_active() && !was_active) begin_at(schedule, at);
  }
  void operator()(const ScheduleRemoved& fact) const {
    const Schedule& schedule = table.ref(fact.schedule);
    for (const auto& [run, job] : schedule.open) table.schedule_of_.erase(job);
    const auto owner = table.by_owner_.find(schedule.owner);
    if (--owner->second == 0) table.by_owner_.erase(owner);
    table.schedules_.erase(fact.schedule);
  }
  void operator()(const ScheduleFired& fact) const {
    Schedule& schedule = table.ref(fact.schedule);
    schedule.runs = fact.run;
    schedule.open[fact.run] = fact.job;
    table.schedule_of_[fact.job] = fact.schedule;
    if (fact.cause == FiringCause::time) schedule.seen = std::max(schedule.seen, fact.due.at);
    schedule.missed += fact.due.missed;
    remember(schedule, at, fact.due,
             ScheduleEntry::Run{fact.run, fact.job, fact.cause, fact.by, std::nullopt});
  }
  void operator()(const SchedulePassed& fact) const {
    Schedule& schedule = table.ref(fact.schedule);
    schedule.seen = std::max(schedule.seen, fact.due.at);
    // Those before it were passed over for the same reason.
    schedule.passed += fact.due.missed + 1;
    remember(schedule, at, fact.due, fact.why);
  }
  void operator()(const ScheduleRunEnded& fact) const {
    const auto found = table.schedule_of_.find(fact.job);
    if (found == table.schedule_of_.end()) return;  // of no schedule, or of one that was removed
    Schedule& schedule = table.ref(found->second);
    auto blocked_before = why_blocked(schedule);
    std::erase_if(schedule.open, [&](const auto& run) { return run.second == fact.job; });
    unblock(schedule, at, std::move(blocked_before));
    for (ScheduleEntry& entry : schedule.recent)
      if (auto* run = std::get_if<ScheduleEntry::Run>(&entry.what);
          run != nullptr && run->job == fact.job && !run->ended)
        run->ended = fact.status;
    table.schedule_of_.erase(found);
  }
};

void ScheduleTable::apply(Instant at, const ScheduleFact& fact) {
  std::visit(Applier{*this, at}, fact);
}

Schedule& ScheduleTable::ref(const std::string& name) {
  const auto found = schedules_.find(name);
  CHECK(found != schedules_.end(), "a fact is about a schedule that was set before");
  return found->second;
}

const Schedule* ScheduleTable::find(const std::string& name) const {
  const auto found = schedules_.find(name);
  return found == schedules_.end() ? nullptr : &found->second;
}

const Schedule* ScheduleTable::of_run(const JobId& job) const {
  const auto found = schedule_of_.find(job);
  return found == schedule_of_.end() ? nullptr : find(found->second);
}

std::size_t ScheduleTable::count_of(const std::string& owner) const {
  const auto found = by_owner_.find(owner);
  return found == by_owner_.end() ? 0 : found->second;
}

std::string wrong_with(const ScheduleTable& table) {
  std::map<std::string, std::size_t> owners;
  for (const auto& [name, schedule] : table.all()) {
    ++owners[schedule.owner];
    if (schedule.text.name != name) return "schedule '" + name + "' has another name in its text";
    if (schedule.recent.size() > kMaxScheduleEntries) return "'" + name + "' remembers too much";
    if (schedule.open.size() > kMaxOpenRuns) return "'" + name + "' has too many open runs";
    if (schedule.seen < schedule.anchor - Duration(1))
      return "'" + name + "' has times from before its trigger was set";
    for (const auto& [run, job] : schedule.open) {
      if (run == 0 || run > schedule.runs) return "'" + name + "' has an open run of no number";
      if (table.of_run(job) != &schedule) return "job '" + job.value + "' is of another schedule";
    }
  }
  for (const auto& [owner, count] : owners)
    if (table.count_of(owner) != count) return "schedules of '" + owner + "' are miscounted";
  return "";
}

}  // namespace lockstep::launcher
