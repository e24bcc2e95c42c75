#pragma once
// How attempts and jobs end, and why another attempt follows.

#include <string>

#include "common/domain/why/jobs/ends.h"

namespace lockstep::words {

// "SIGKILL"; "" for a number without a name.
std::string signal_name(int number);

// How a rank ended, without its name and in a few words: "exited with code 3". `exit_code`: of the
// report. "": the cause is of no rank.
std::string rank_end_in_short(Cause cause, int exit_code);

std::string say(const AllRanksCompleted&);
std::string say(const RankFailed& reason);
std::string say(const NodeFailed& reason);
std::string say(const RanksHang& reason);
std::string say(const FirstOfSeveral& reason);
std::string say(const NodeEndedRanks& reason);
std::string say(const StoppedUnasked& reason);
std::string say(const NotPrepared& reason);
std::string say(const NodePreempted& reason);
std::string say(const DependencyFailed& reason);
std::string say(const EndedWith& reason);
std::string say(const NoNodeHasAccount& reason);
std::string say(const NorOnNodes& reason);
std::string say(const GivenUpAfter& reason);
std::string say(const InputIsGone&);
std::string say(const MachinesEndTooEarly& reason);
std::string say(const LogsWithoutSpace& reason);
std::string say(const LogsCameLate& reason);
std::string say(const RetriedAfter& reason);
std::string say(const ChargedRetry& reason);
std::string say(const UnchargedRetry& reason);
std::string say(const WasRetried&);

}  // namespace lockstep::words
