#include "launcher/core/nodes/health.h"

#include <algorithm>

#include "common/domain/why/jobs/events.h"
#include "common/domain/why/nodes/losses.h"
#include "launcher/core/attempts/fences.h"
#include "launcher/core/attempts/reports.h"
#include "launcher/core/queue/wake.h"

namespace lockstep::launcher {

namespace {

// Continues what waited for the node: placement, held verdicts, gangs, logs, and the end of its
// idle time.
void node_came_back(Context& core, NodeId node) {
  usability_changed(core, *core.state.node(node));
  for (const auto& [id, rank] : core.state.node(node)->parts) {
    core.pending.dirty_jobs.insert(id.job);
    if (core.state.attempt(id)->ended)
      core.timers.set({TimerKey::Kind::logs, node, id},
                      core.clock.polled() + core.config.logs_timeout);
  }
}

void tell(Context& core, NodeId id, Liveness liveness, Why why) {
  core.step.news.push_back({id, core.state.node_name(id), liveness, std::move(why)});
}

void lose(Context& core, NodeId id, const Why& why) {
  fence(core, id, why);
  core.emit(NodeLost{id, why});
  tell(core, id, Liveness::lost, why);
}

void fall_silent(Context& core, NodeId id, const Why& why) {
  record_attempts(core, id, Event::Kind::node_unknown, NodeIsUnknown{why});
  tell(core, id, Liveness::unknown, why);
}

}  // namespace

void heard(Context& core, NodeId node) {
  NodeWatch& watch = core.watches.at(node);
  watch.heard = core.clock.polled();
  const bool back = watch.liveness != Liveness::alive;
  // After a start of the launcher, the first message of a node does not mean that it was silent.
  const bool was_silent = back && watch.last_heard.ns != 0;
  const bool was_lost = watch.liveness == Liveness::lost;
  watch.last_heard = core.now;
  watch.unread.clear();
  watch.liveness = Liveness::alive;
  arm_node_timer(core, node);
  if (was_silent || was_lost) tell(core, node, Liveness::alive, {});
  if (was_silent) record_attempts(core, node, Event::Kind::node_heard, NodeReportsAgain{});
  if (back) node_came_back(core, node);
}

void arm_node_timer(Context& core, NodeId node) {
  const NodeWatch& watch = core.watches.at(node);
  Instant due =
      watch.heard + core.config.heartbeat_interval * core.config.missed_heartbeats_unknown;
  if (watch.liveness == Liveness::unknown) {
    due = watch.heard + core.config.node_lost_timeout;
    if (core.grace_until) due = std::max(due, *core.grace_until);
  }
  core.timers.set({TimerKey::Kind::node, node, {}}, due);
}

void node_silent(Context& core, NodeId id) {
  NodeWatch& watch = core.watches.at(id);
  switch (watch.liveness) {
    case Liveness::alive:
      watch.liveness = Liveness::unknown;
      arm_node_timer(core, id);
      fall_silent(core, id, NodeNotHeard{core.clock.polled() - watch.heard});
      break;
    case Liveness::unknown: lose(core, id, NodeNotHeard{core.clock.polled() - watch.heard}); break;
    case Liveness::lost: break;
  }
}

// Gives up the parts of a lost node. Later reports of the node about them are refused.
void fence(Context& core, NodeId id, const Why& why) {
  const std::map<AttemptId, int> parts = core.state.node(id)->parts;
  for (const auto& [attempt_id, rank] : parts) {
    const Attempt& attempt = *core.state.attempt(attempt_id);
    const Part& part = attempt.parts[static_cast<std::size_t>(rank)];
    // The verdict on a failure was held while this node was UNKNOWN. Now the loss of the node is
    // the cause.
    const bool held = !attempt.ended && attempt.tally.failed > 0;
    keep_outputs_so_far(core, id, attempt_id);
    if (!part.finished() || held)
      core.emit(
          PartGone{attempt_id, id, Cause::node_lost, why, fence_of(core.cluster(), attempt, part)});
    else if (attempt.ended)
      core.emit(PartReleased{attempt_id, id, true});  // the part's logs are given up
  }
}

}  // namespace lockstep::launcher
