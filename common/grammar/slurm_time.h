#pragma once
// Times as Slurm writes and reads them: minutes, minutes:seconds, hours:minutes:seconds,
// days-hours[:minutes[:seconds]].

#include <optional>
#include <string>

#include "common/base/time.h"

namespace lockstep {

// Reads a time of Slurm. nullopt: the text has another form ("UNLIMITED", "NOT_SET"), or is over a
// hundred years.
std::optional<Duration> parse_slurm_time(const std::string& text);

}  // namespace lockstep
