#pragma once
// The times of sbatch's --begin as `lockstep run --begin` takes them. Reads the time zone of this
// machine, and no clock.

#include <ctime>
#include <optional>
#include <string>

namespace lockstep::cli {

// Reads "now", "now+1hour", "16:00", "16:00:30", "2026-11-26", "2026-11-26T18:00[:00]", "today",
// "tomorrow", "midnight", "noon" into a time from now ("3600s"), or a time stamp in UTC. A time of
// day that is over is tomorrow's. nullopt: the text has another form.
std::optional<std::string> begin_of_sbatch(const std::string& text, std::time_t now);

}  // namespace lockstep::cli
