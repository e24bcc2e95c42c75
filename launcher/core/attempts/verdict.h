#pragma once
// Combines the ends of an attempt's parts into one ExitReport for the job: the runners'
// NodeExitReports, and what the launcher itself knows (a lost node, a runner that has gone). Pure.

#include <string>
#include <vector>

#include "common/domain/ranks/exit_report.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// The verdict on the parts of the attempt that have ended so far. `now` is the time of ends that
// have no time of their own.
//
// A lost node or runner is the cause, whatever the ranks report, since their failures follow from
// it. Otherwise the first failure by time is the cause: a rank that failed by itself, or a node
// that could not prepare, start or continue. Ranks that we terminated are never the cause. If all
// parts completed, the verdict is completed.
//
// Two kinds of failures come after others, whatever the clocks say: a rank's whose last output is
// about a broken connection to a node that failed too, and a rank's that failed while its gang was
// ended for a hang. The failure of a rank that never joined its MPI job may be reported by another
// node, whose ranks waited for it: the rank's own runner saw it exit 0 and may have ended before.
// An attempt that is stopped because a node is taken away was preempted, unless all parts
// completed.
ExitReport verdict(const State& state, const Attempt& attempt, Instant now);

ExitReport canceled_report(const State& state, const Job& job, Instant now);
// The reasons LogsWithoutSpace and LogsCameLate for the logs of the job's attempts that were given
// up.
std::vector<Why> logs_not_kept(const State& state, const Job& job);
// The report on a part that was not prepared within `limit` (CoreConfig::time_to_prepare).
ExitReport prepare_timeout_report(const State& state, const Attempt& attempt,
                                  const std::string& progress, Duration limit, Instant now);

// True for a failure of the program. Its verdict waits while a node of the gang is UNKNOWN, because
// the loss of that node would be the cause.
bool blames_program(const ExitReport& report);

}  // namespace lockstep::launcher
