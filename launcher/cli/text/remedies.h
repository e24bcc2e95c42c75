#pragma once
// Advice for frequent failures, printed below the failure report.

#include <string>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// Returns indented lines, or "" if we know no remedy. `report` is the job's.
std::string remedies(const JobView& job, const ExitReport& report);

}  // namespace lockstep::cli
