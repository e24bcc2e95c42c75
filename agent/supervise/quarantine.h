#pragma once
// Attempts' directories that could not be removed, set aside so that the agent and the other
// attempts go on: <home>/quarantine/<attempt>.<number>. Their removal is tried again at each start
// of the agent and each hour. Nothing else looks at them.

#include <string>

#include "agent/supervise/agent_home.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::agent {

inline constexpr Duration kQuarantineRetry = minutes(60);

// All of a part, as remove_part does. A directory that cannot be removed is set aside and named in
// the log: success. May block for as long as its tree takes.
Status remove_or_set_aside(const AgentHome& home, const io::AttemptDir& directory,
                           const std::string& mount_point);

// Tries to remove all that was set aside; what stays is named in the log.
void empty_quarantine(const AgentHome& home);

}  // namespace lockstep::agent
