#pragma once
// Ends runners of this machine when no launcher and no agent can: their ranks get the job's grace
// first, as after a cancel.

#include <vector>

#include "common/base/result.h"
#include "common/io/attempt/runners.h"

namespace lockstep::cli {

// Asks each runner to stop its part, waits for their ends, and kills those that do not follow or
// cannot be asked because their attempt's directory was removed.
Status stop_runners(const std::vector<io::Runner>& runners);

}  // namespace lockstep::cli
