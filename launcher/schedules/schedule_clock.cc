#include "launcher/schedules/schedule_clock.h"

#include "launcher/schedules/firing.h"

namespace lockstep::launcher {

void ScheduleClock::changed(const std::string& name, const Schedule* schedule, Instant now,
                            const TimeZones& zones) {
  if (const auto known = times_.find(name); known != times_.end()) {
    by_time_.erase({known->second, name});
    times_.erase(known);
  }
  const Instant at = schedule == nullptr ? Instant::never() : next_look(*schedule, now, zones);
  if (at == Instant::never()) return;
  times_.emplace(name, at);
  by_time_.emplace(at, name);
}

Instant ScheduleClock::next() const {
  return by_time_.empty() ? Instant::never() : by_time_.begin()->first;
}

std::vector<std::string> ScheduleClock::due(Instant now) const {
  std::vector<std::string> names;
  for (const auto& [at, name] : by_time_) {
    if (at > now) break;
    names.push_back(name);
  }
  return names;
}

}  // namespace lockstep::launcher
