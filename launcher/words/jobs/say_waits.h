#pragma once
// Why a job waits.

#include <string>

#include "common/domain/why/jobs/waits.h"

namespace lockstep::words {

std::string say(const WaitsToBePlaced& reason);
std::string say(const WaitsForQuota& reason);
std::string say(const WaitsAtHead& reason);
std::string say(const WaitsBehindJob& reason);
std::string say(const JobReachesItsLimit& reason);
std::string say(const JobHasNoLimit& reason);
std::string say(const NodeIsReadyAgain& reason);
std::string say(const WentBeforeJob& reason);
std::string say(const WaitsForJobs& reason);
std::string say(const WaitsForTime& reason);
std::string say(const WaitsToRetry& reason);
std::string say(const WaitsAgain& reason);
std::string say(const WaitsForParts& reason);
std::string say(const NodeSays& reason);
std::string say(const WaitsForRanksToEnd& reason);
std::string say(const WaitsToStop& reason);
std::string say(const WaitsForVerdict& reason);
std::string say(const WaitsForLogs& reason);
std::string say(const OutputsAreMerged& reason);

// Whether the sentence has all of the node's progress of its part.
bool shows_progress(const Why& why, const std::string& node, const std::string& said);

}  // namespace lockstep::words
