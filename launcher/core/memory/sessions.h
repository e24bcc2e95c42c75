#pragma once
// Classifies the session that sent a message for a node: the one that was accepted last, an unknown
// one, or an older one whose late messages still arrive. If an older session does not fall silent,
// the node is a cloned image: two agents with one identity, and neither can be trusted. Knows
// nothing about parts or jobs.

#include "common/domain/messages/agent_protocol.h"
#include "launcher/core/memory/liveness.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

enum class Speaker {
  live,     // the accepted session
  unknown,  // new, or not opened yet since the launcher started or the node was lost
  stale,    // replaced, or begun before the accepted session: its messages are ignored
  cloned,   // replaced, and still sends: this session and the live one are refused
  refused,  // refused earlier as one of two clones
};

// Classifies the session of a message of `node`, and records messages of stale sessions in `watch`.
// A replaced session that keeps sending for `clone_after` of polled time is a clone; late and
// duplicate messages of a dead agent stop before that.
Speaker identify(const Node& node, NodeWatch& watch, SessionId session, Instant polled,
                 Duration clone_after);
inline constexpr int kCloneMessages = 3;
// Classifies a SessionOpen. An unknown session is stale if it has the accepted boot and an earlier
// agent start (session_id): its message was delayed while a newer session was accepted.
Speaker identify_open(const Node& node, NodeWatch& watch, const SessionOpen& open, Instant polled,
                      Duration clone_after);

// Marks the stale session and the live one, if any, as refused, and returns the reason.
Why refuse_clones(const Node& node, NodeWatch& watch, SessionId stale);

}  // namespace lockstep::launcher
