#pragma once
// Classifies the session of a node's message: the accepted session, an unknown one, an older one
// whose delayed messages still arrive, or, if an older one keeps talking, a cloned image: two
// agents with one identity, neither of which can be trusted. Knows nothing of parts or jobs.

#include <string>

#include "common/domain/agent_messages.h"
#include "launcher/core/liveness.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

enum class Speaker {
  live,     // the accepted session
  unknown,  // new, or not yet opened since the launcher started or the node was lost
  stale,    // replaced, or begun before the accepted one: ignore what it says
  cloned,   // replaced, and goes on talking: refuse it and the live one
  refused,  // was found to be one of two clones before
};

// Judges the session of a message of `node`, and remembers stale talk in `watch`. A replaced
// session that is heard again and again for `clone_after` of polled time is a clone; late and
// doubled messages of a dead agent cease before.
Speaker identify(const Node& node, NodeWatch& watch, SessionId session, Instant polled,
                 Duration clone_after);
inline constexpr int kCloneMessages = 3;
// The same for a SessionOpen. One that nobody knows is stale when it is of the accepted boot and of
// an earlier agent start (session_id): it was on its way while a newer start was accepted.
Speaker identify_open(const Node& node, NodeWatch& watch, const SessionOpen& open, Instant polled,
                      Duration clone_after);

// Marks the stale session and the live one, if any, as refused, and returns the reason in words.
std::string refuse_clones(const Node& node, NodeWatch& watch, SessionId stale);

}  // namespace lockstep::launcher
