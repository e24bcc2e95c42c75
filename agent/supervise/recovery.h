#pragma once
// Finds, at an agent's start, the attempt directories of an earlier agent and their live runners.
// Reads only, except that it removes directories without a readable assignment.

#include <optional>
#include <string>
#include <vector>

#include "agent/core/core.h"
#include "agent/supervise/agent_home.h"
#include "common/io/attempt/runners.h"
#include "common/io/process.h"

namespace lockstep::agent {

struct RecoveredPart {
  FoundPart found;
  std::optional<io::ProcessIdentity> runner;  // present if its process is alive
};

// The parts below <home>/attempts. `same_boot` false: the node has rebooted, so no runner is alive.
std::vector<RecoveredPart> find_parts(const AgentHome& home, bool same_boot);

// The runners below <home>/attempts that are not in `known`, because their attempt directory was
// removed. The caller must end them, which may take some seconds: see io::end_runner.
std::vector<io::Runner> unknown_runners(const AgentHome& home,
                                        const std::vector<RecoveredPart>& known);

// Finds the runner of an attempt directory by its pid file or, if that is not written yet, by its
// command line. nullopt: no runner is alive.
std::optional<io::ProcessIdentity> find_runner(const io::AttemptDir& directory);

// The sizes of the ranks' log files, by rank. Call it when no process writes to them any more.
std::vector<LogSize> log_sizes(const io::AttemptDir& directory);
// The size of all files with the times of these logs together.
Bytes size_of_times(const io::AttemptDir& directory);

// The end of the runner's own log on one line, for messages; "" if the log is empty.
std::string last_words(const io::AttemptDir& directory);

// The runner's final report; not_found if there is none.
Result<NodeExitReport> read_final_report(const io::AttemptDir& directory);

}  // namespace lockstep::agent
