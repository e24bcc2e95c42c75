#pragma once
// When which schedule is to be looked at, so that a step of the launcher looks at those alone that
// are due. In memory only: it follows from the schedules and the time zones. Pure.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/time_zones.h"
#include "launcher/schedules/schedule_table.h"

namespace lockstep::launcher {

class ScheduleClock {
 public:
  // After each fact of the schedule, and for each schedule after a start. `schedule` null: it was
  // removed.
  void changed(const std::string& name, const Schedule* schedule, Instant now,
               const TimeZones& zones);

  Instant next() const;  // never(): no schedule waits for a time
  // Those that are due, the first due first. They stay due until they change.
  std::vector<std::string> due(Instant now) const;

 private:
  std::map<std::string, Instant> times_;
  std::set<std::pair<Instant, std::string>> by_time_;
};

}  // namespace lockstep::launcher
