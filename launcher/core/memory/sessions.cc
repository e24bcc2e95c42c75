#include "launcher/core/memory/sessions.h"

#include <algorithm>

#include "common/domain/why/nodes/nodes.h"

namespace lockstep::launcher {

namespace {

// Handles a message of a replaced session: either it was delayed, or the session is a clone's.
Speaker replaced(NodeWatch& watch, SessionId session, Instant polled, Duration clone_after) {
  if (watch.stale_talk.size() >= kMaxStaleSessions && watch.stale_talk.count(session) == 0)
    watch.stale_talk.clear();
  StaleTalk& talk = watch.stale_talk[session];
  if (talk.messages == 0 || polled - talk.last > clone_after) talk = {polled, polled, 0};
  talk.last = polled;
  ++talk.messages;
  const bool persists = talk.messages >= kCloneMessages && polled - talk.since >= clone_after;
  return persists ? Speaker::cloned : Speaker::stale;
}

}  // namespace

Speaker identify(const Node& node, NodeWatch& watch, SessionId session, Instant polled,
                 Duration clone_after) {
  if (watch.refused.count(session) != 0) return Speaker::refused;
  if (watch.live == session) return Speaker::live;
  const auto& past = node.past_sessions;
  if (std::find(past.begin(), past.end(), session) == past.end()) return Speaker::unknown;
  return replaced(watch, session, polled, clone_after);
}

Speaker identify_open(const Node& node, NodeWatch& watch, const SessionOpen& open, Instant polled,
                      Duration clone_after) {
  const Speaker speaker = identify(node, watch, open.session, polled, clone_after);
  const bool earlier = node.session && node.boot == open.boot && open.session < *node.session;
  if (speaker != Speaker::unknown || !earlier) return speaker;
  return replaced(watch, open.session, polled, clone_after);
}

Why refuse_clones(const Node& node, NodeWatch& watch, SessionId stale) {
  NodeCloned cloned{node.name, node.id, stale.value, {}};
  if (watch.live) cloned.live = watch.live->value;
  const Why why = std::move(cloned);
  if (watch.refused.size() >= kMaxStaleSessions) watch.refused.clear();
  watch.refused[stale] = why;
  if (watch.live) watch.refused[*watch.live] = why;
  watch.live.reset();
  watch.stale_talk.clear();
  return why;
}

}  // namespace lockstep::launcher
