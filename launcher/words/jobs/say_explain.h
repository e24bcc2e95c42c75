#pragma once
// The lines of `lockstep job explain`.

#include <string>

#include "common/domain/why/jobs/explain.h"

namespace lockstep {
struct ExplainLine;  // common/domain/messages/views.h
}

namespace lockstep::words {

std::string say(const RanksAreBound& reason);
std::string say(const AttemptWasPlaced& reason);
std::string say(const SomeNodesAreApart& reason);
std::string say(const AttemptEndedWith& reason);
std::string say(const AttemptEndedLike& reason);
std::string say(const AttemptWasFollowed& reason);
std::string say(const PlaceInQueue& reason);
std::string say(const JobsAreAhead& reason);
std::string say(const ShareOfUser& reason);
std::string say(const CouldStartBefore& reason);
std::string say(const WaitsForOwnUser& reason);
std::string say(const NodesAreKept& reason);
std::string say(const JobAsksFor& reason);
std::string say(const IsStepOf& reason);
std::string say(const StepReuses& reason);
std::string say(const NoResultIsReused& reason);
std::string say(const NoEarlierRun& reason);
std::string say(const NoRunHadThisContent& reason);
std::string say(const CompletedTooLate& reason);
std::string say(const RunsAgain& reason);

// The line with its indentation, for those who may read the job.
std::string text_of(const ExplainLine& line);

}  // namespace lockstep::words
