#pragma once
// Determines how an attempt ended: combines the runners' NodeExitReports and the launcher's own
// knowledge (a node lost, a runner gone) into one ExitReport. Pure.

#include <string>

#include "common/domain/exit_report.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

// The verdict on what has ended of the attempt so far. `now` stamps what carries no time of its
// own.
//
// A lost node or runner is the cause whatever the ranks say, since their failures follow from it.
// Else the first failure by time is: a rank that failed by itself, or a node that could not
// prepare, start or go on. A rank that never joined its MPI job may be named by another node's
// runner, whose ranks waited for it; its own runner saw it exit 0 and may have left before. Ranks
// that we terminated are consequences. All parts completed = completed.
ExitReport verdict(const State& state, const Attempt& attempt, Instant now);

ExitReport canceled_report(const State& state, const Job& job, Instant now);
// "; the last 12 KiB of its logs on node n1 were not kept, …"; "" when none was given up for lack
// of space.
std::string logs_not_kept(const State& state, const Job& job);
// The part that was not prepared within CoreConfig::prepare_timeout.
ExitReport prepare_timeout_report(const State& state, const Attempt& attempt,
                                  const std::string& progress, Duration limit, Instant now);

// True for a failure of the program, whose verdict waits while a node of the gang is UNKNOWN.
bool blames_program(const ExitReport& report);

// "SIGKILL"; "" for a number without a name.
std::string signal_name(int number);

}  // namespace lockstep::launcher
