#pragma once
// How a rank ended, or why it never started: what follows "rank 3 was killed by signal 9: ".

#include <string>

#include "common/domain/why/ranks/ranks.h"

namespace lockstep::words {

std::string say(const RankNotStarted& reason);
std::string say(const StartsGivenUp& reason);
std::string say(const SpawnIsGone& reason);
std::string say(const KilledForMemory& reason);
std::string say(const KilledByUser& reason);
std::string say(const KilledFromOutside& reason);
std::string say(const NotFinalized& reason);
std::string say(const NeverJoinedMpi& reason);
std::string say(const CalledMpiAbort& reason);
std::string say(const MpiInitFailed& reason);
std::string say(const CrashedIn& reason);
std::string say(const WasRefusedForks& reason);
std::string say(const RankEnded& reason);

// "512 processes or threads: its limit is 4,096 (--pids-limit; lockstep.limits.pids in a job
// file)".
std::string refused_text(long long refused, long long limit, bool is_of_all_jobs);
// "512 processes or threads".
std::string processes_text(long long count);

}  // namespace lockstep::words
