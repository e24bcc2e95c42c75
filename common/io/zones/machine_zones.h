#pragma once
// The time zones of this machine: tzdata's, read by the library date. A zone's rules are read when
// it is used first, and stay as they are until the program ends.

#include <memory>

#include "common/domain/targets/time_zones.h"

namespace lockstep::io {

// The machine's zones; only UTC if tzdata is not installed.
std::shared_ptr<const TimeZones> system_time_zones();

}  // namespace lockstep::io
