#pragma once
// What people are shown of a schedule. Never an input to a decision.

#include <string>

#include "common/domain/time_zones.h"
#include "launcher/schedules/schedule_table.h"

namespace lockstep::launcher {

ScheduleView view_of(const Schedule& schedule, Instant now, const TimeZones& zones);
// Why times got no run, in words.
std::string words_of(const WhyPassed& why);

}  // namespace lockstep::launcher
