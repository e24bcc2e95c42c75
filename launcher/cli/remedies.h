#pragma once
// Advice for frequent failures: lines after the failure report.

#include <string>

#include "common/domain/views.h"

namespace lockstep::cli {

// Indented lines, or "" where nothing is known that helps. `report` is the job's.
std::string remedies(const JobView& job, const ExitReport& report);

}  // namespace lockstep::cli
