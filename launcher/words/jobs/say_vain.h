#pragma once
// Why a job waits in vain, and what changes that.

#include <string>

#include "common/domain/why/jobs/vain.h"

namespace lockstep::words {

std::string say(const WaitsInVain& reason);
std::string say(const NobodyJoins& reason);
std::string say(const NodesNeverFit& reason);
std::string say(const NeedsWhatNoNodeHas& reason);
std::string say(const NodesLackEngine& reason);
std::string say(const JobWaitsInVain& reason);

}  // namespace lockstep::words
