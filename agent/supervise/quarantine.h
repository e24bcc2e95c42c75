#pragma once
// Attempt directories that could not be removed are moved to <home>/quarantine/<attempt>.<number>,
// so that they do not block the agent or other attempts. The agent tries to remove them again at
// each start and every hour. Nothing else uses them.

#include <string>

#include "agent/supervise/agent_home.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::agent {

inline constexpr Duration kQuarantineRetry = minutes(60);

// Like remove_part, but moves a directory that it cannot remove to the quarantine, names it in the
// log, and returns success. Blocks for as long as removing the tree takes.
Status remove_or_set_aside(const AgentHome& home, const io::AttemptDir& directory,
                           const std::string& mount_point);

// Tries to remove every directory in the quarantine; names in the log those that stay.
void empty_quarantine(const AgentHome& home);

}  // namespace lockstep::agent
