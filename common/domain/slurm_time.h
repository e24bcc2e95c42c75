#pragma once
// Times as Slurm writes and reads them: minutes, minutes:seconds, hours:minutes:seconds,
// days-hours[:minutes[:seconds]].

#include <optional>
#include <string>

#include "common/base/time.h"

namespace lockstep {

// nullopt: it is no such time, or longer than a hundred years ("UNLIMITED", "NOT_SET").
std::optional<Duration> parse_slurm_time(const std::string& text);

}  // namespace lockstep
