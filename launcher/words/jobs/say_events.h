#pragma once
// The texts of events of jobs and of nodes.

#include <string>

#include "common/domain/why/jobs/events.h"

namespace lockstep::words {

std::string say(const DoneBy& reason);
std::string say(const PriorityIs& reason);
std::string say(const StepHasJob& reason);
std::string say(const StepReusesJob& reason);
std::string say(const StepLeftOut& reason);
std::string say(const JobIs& reason);
std::string say(const EndedFor& reason);
std::string say(const OutputIsWritten& reason);
std::string say(const OutputGivenUp& reason);
std::string say(const PlacedOn& reason);
std::string say(const NodesBegin&);
std::string say(const NodesAreReady& reason);
std::string say(const NodesConnect& reason);
std::string say(const RanksStarted&);
std::string say(const RanksEnded&);
std::string say(const OutputsCollected& reason);
std::string say(const OutputNotKept& reason);
std::string say(const NewerNotKept& reason);
std::string say(const LastLogsLost& reason);
std::string say(const RanksFound& reason);
std::string say(const RanksGoOn& reason);
std::string say(const NodeIsUnknown& reason);
std::string say(const NodeReportsAgain&);
std::string say(const LauncherTakesNoLogs& reason);
std::string say(const RanksWriteAgain&);
std::string say(const NotMergedYet& reason);
std::string say(const RanksSignaled& reason);
std::string say(const ApprovalPending&);
std::string say(const AgentHasVersion& reason);
std::string say(const TakenAwayAt& reason);

}  // namespace lockstep::words
