#pragma once
// What an agent finds at its start: the attempt directories of an earlier one, and which of their
// runners live. Reads only, except that directories which say nothing are removed.

#include <optional>
#include <string>
#include <vector>

#include "agent/core/core.h"
#include "agent/supervise/agent_home.h"
#include "common/io/process.h"
#include "common/io/runners.h"

namespace lockstep::agent {

struct RecoveredPart {
  FoundPart found;
  std::optional<io::ProcessIdentity> runner;  // present while its process lives
};

// The parts below <home>/attempts. `same_boot`: false when nothing started earlier can live.
std::vector<RecoveredPart> find_parts(const AgentHome& home, bool same_boot);

// The runners below <home>/attempts that are none of `known`: those whose attempt directory
// somebody removed. They are to be ended, which may take some seconds: see io::end_runner.
std::vector<io::Runner> unknown_runners(const AgentHome& home,
                                        const std::vector<RecoveredPart>& known);

// The runner of an attempt directory: by its pid file, or, when it was started and has not written
// that yet, by its command line. nullopt: none lives.
std::optional<io::ProcessIdentity> find_runner(const io::AttemptDir& directory);

// What the log files of its ranks hold, by rank. Call it when nothing writes to them any more.
std::vector<LogSize> log_sizes(const io::AttemptDir& directory);

// The end of the runner's own log on one line, for people; "" when it said nothing.
std::string last_words(const io::AttemptDir& directory);

// The final report; not_found while there is none.
Result<NodeExitReport> read_final_report(const io::AttemptDir& directory);

}  // namespace lockstep::agent
