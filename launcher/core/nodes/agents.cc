#include "launcher/core/nodes/agents.h"

#include <algorithm>
#include <utility>

#include "common/base/utf8.h"
#include "common/domain/why/nodes/losses.h"
#include "launcher/core/attempts/fences.h"
#include "launcher/core/attempts/reports.h"
#include "launcher/core/memory/sessions.h"
#include "launcher/core/nodes/health.h"
#include "launcher/core/nodes/machine_claims.h"
#include "launcher/core/nodes/preemption.h"
#include "launcher/core/nodes/shared_machine.h"
#include "launcher/core/queue/wake.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxVersionBytes = 64;  // of an agent's version, as the agent reports it

// The node with this key, if the message claims to be from that node; null: it does not.
const Node* known_speaker(Context& core, const PublicKey& key, NodeId claimed, SessionId session) {
  const Node* node = core.state.node_with_key(key);
  if (node != nullptr && node->id == claimed) return node;
  if (const RemovedNode* removed = core.state.removed_with_key(key)) {
    const NodeWasRemoved why{removed->name, removed->by, removed->at};
    core.act(RefuseSession{key, session, why, true});
    return nullptr;
  }
  core.act(RefuseSession{
      key, session,
      node == nullptr ? Why(KeyNotKnown{}) : Why(KeyOfAnother{node->name, node->id, claimed})});
  return nullptr;
}

void refuse_both(Context& core, const Node& node, const PublicKey& key, SessionId stale) {
  NodeWatch& watch = core.watches.at(node.id);
  const std::optional<SessionId> live = watch.live;
  const Why reason = refuse_clones(node, watch, stale);
  core.act(RefuseSession{key, stale, reason});
  if (live) core.act(RefuseSession{key, *live, reason});
  if (watch.liveness != Liveness::alive) return;
  watch.liveness = Liveness::unknown;
  arm_node_timer(core, node.id);
}

void refuse_again(Context& core, const PublicKey& key, SessionId session, const NodeWatch& watch) {
  core.act(RefuseSession{key, session, watch.refused.at(session)});
}

void take_leftovers(const State& state, NodeWatch& watch, NodeId node, const SessionOpen& open) {
  watch.leftovers.clear();
  for (const PartReport& report : open.parts) {
    const bool runs = report.state != PartState::finished;
    if (runs && state.assigned_part(report.attempt, node) == nullptr)
      watch.leftovers.insert(report.attempt);
  }
}

void ask_of_leftovers(Context& core, NodeId node, const PublicKey& key) {
  NodeWatch& watch = core.watches.at(node);
  if (watch.leftovers.empty() && !watch.must_answer) watch.question = 0;
  if (watch.question != 0) core.act(AskForSession{key, *watch.live, watch.question});
}

// Gives up the parts that a full report, or a new boot, proves to have stopped. It proves nothing
// about a part that was assigned after the report was written: the node gets that part again. A
// copy from a known session may be late, so the revision in it is compared. A new session begins
// after all earlier messages of its node.
void compare_parts(Context& core, const Node& node, const SessionOpen& open) {
  std::set<AttemptId> listed;
  for (const PartReport& report : open.parts) {
    listed.insert(report.attempt);
    const bool rebooted = node.session && node.boot != open.boot;
    // After a reboot, the report is out of date for parts that were running when the node went
    // down. It is still true for parts that had ended.
    if (!rebooted || report.state >= PartState::collecting)
      take_report(core, node.id, report, true);
  }
  const bool rebooted = node.session && node.boot != open.boot;
  const bool known_session = node.session == open.session;
  const std::map<AttemptId, int> parts = node.parts;
  for (const auto& [id, rank] : parts) {
    const Part* part = core.state.assigned_part(id, node.id);
    if (part == nullptr) continue;
    const bool later = known_session && part->revision > open.desired_revision;
    const bool absent = !later && listed.count(id) == 0;
    if (part->finished()) {
      // The part's directory is gone, so no more of its logs can arrive.
      if (absent) core.emit(PartReleased{id, node.id, true});
      continue;
    }
    if (absent || rebooted) keep_outputs_so_far(core, node.id, id);
    if (rebooted && (absent || !part->at_least(PartState::collecting))) {
      core.emit(PartGone{id, node.id, Cause::node_lost, NodeRebooted{}});
    } else if (part->report && absent) {
      core.emit(PartGone{id, node.id, Cause::runner_lost, RunnerNotReported{}});
    }
  }
}

void host_changed(Context& core, const Node& node, const std::string& before) {
  if (const Why why = claims_anothers(core, node))
    core.act(ReportRefused{node.id, "node " + node.name, why});
  const std::set<NodeId> left = core.state.nodes_on_host(before);
  if (!left.empty()) machine_changed(core, *left.begin());
}

void accept_session(Context& core, const Node& node, const SessionOpen& open) {
  const bool known_session = node.session == open.session;
  const bool was_lost = node.lost.has_value();
  note_machine(core, node.id, open.machine);
  compare_parts(core, node, open);
  lift_fences(core, node.id, open, known_session);
  const std::string agent_version(head(open.version, kMaxVersionBytes));
  const bool news = node.session != open.session || node.boot != open.boot || node.lost ||
                    !(node.inventory == open.inventory) || node.agent_version != agent_version;
  const std::string before = node.inventory.host_id;
  if (news)
    core.emit(
        NodeSessionStarted{node.id, open.boot, open.session, open.inventory, {}, agent_version});
  if (before != node.inventory.host_id) host_changed(core, node, before);
  if (open.notice) take_notice(core, node.id, *open.notice);
  NodeWatch& watch = core.watches.at(node.id);
  watch.live = open.session;
  watch.inventory_number = open.inventory_number;
  watch.words_of = 0;
  take_leftovers(core.state, watch, node.id, open);
  watch.must_answer = known_session && was_lost;
  const bool may_be_late = watch.must_answer || (known_session && !watch.leftovers.empty());
  watch.question = may_be_late ? static_cast<std::uint64_t>(core.now.ns) + 1 : 0;
}

// Takes the node's network interfaces, which change while an agent runs. The rest of the inventory
// stays as it was when the agent started.
void take_network(Context& core, const Node& node, const SessionOpen& open) {
  NodeWatch& watch = core.watches.at(node.id);
  if (open.inventory_number <= watch.inventory_number) return;
  watch.inventory_number = open.inventory_number;
  Inventory now = node.inventory;
  now.interfaces = open.inventory.interfaces;
  now.rdma_ports = open.inventory.rdma_ports;
  now.fabric = open.inventory.fabric;
  if (now == node.inventory) return;
  const std::optional<Node::Notice> notice = node.notice;
  core.emit(
      NodeSessionStarted{node.id, node.boot, open.session, std::move(now), {}, node.agent_version});
  // The fact above cleared the notice, and a provider does not repeat one.
  if (notice) core.emit(NodeNoticed{node.id, notice->until, notice->why});
  if (open.notice) take_notice(core, node.id, *open.notice);
}

}  // namespace

void react(Context& core, const SessionInput& input) {
  const SessionOpen& open = input.open;
  const Node* node = known_speaker(core, input.key, open.node, open.session);
  if (node == nullptr) return;
  NodeWatch& watch = core.watches.at(node->id);
  switch (identify_open(*node, watch, open, core.clock.polled(), core.config.node_lost_timeout)) {
    case Speaker::refused: refuse_again(core, input.key, open.session, watch); return;
    case Speaker::cloned: refuse_both(core, *node, input.key, open.session); return;
    case Speaker::stale: return;
    case Speaker::live:
      // The message is a duplicate or late copy: a part that it lacks may have begun after it was
      // written.
      for (const PartReport& report : open.parts) take_report(core, node->id, report, false);
      take_network(core, *node, open);
      if (watch.question != 0 && open.answers == watch.question) {
        watch.question = 0;
        watch.must_answer = false;
        take_leftovers(core.state, watch, node->id, open);
        lift_fences(core, node->id, open, false);
        usability_changed(core, *node);
      }
      break;
    case Speaker::unknown: accept_session(core, *node, open); break;
  }
  core.act(AcceptSession{node->id, open.session, input.key});
  ask_of_leftovers(core, node->id, input.key);
  watch.sent_revision = node->revision;
  heard(core, node->id);
}

namespace {

void look_at_clock(NodeWatch& watch, const Heartbeat& beat, Instant now) {
  if (beat.wall_clock.ns != 0) watch.clock_ahead = beat.wall_clock - now;
  watch.clock.add(beat, now);
}

}  // namespace

void react(Context& core, const HeartbeatInput& input) {
  const Heartbeat& beat = input.beat;
  const Node* node = known_speaker(core, input.key, beat.node, beat.session);
  if (node == nullptr) return;
  NodeWatch& watch = core.watches.at(node->id);
  switch (
      identify(*node, watch, beat.session, core.clock.polled(), core.config.node_lost_timeout)) {
    case Speaker::refused: refuse_again(core, input.key, beat.session, watch); return;
    case Speaker::cloned: refuse_both(core, *node, input.key, beat.session); return;
    case Speaker::stale: return;
    case Speaker::unknown: core.act(AskForSession{input.key, beat.session}); return;
    case Speaker::live: break;
  }
  heard(core, node->id);
  core.act(AckHeartbeat{node->id, beat.session, beat.number, node->revision, core.now});
  ask_of_leftovers(core, node->id, input.key);
  watch.sent_revision = beat.desired_revision;
  if (beat.notice) take_notice(core, node->id, *beat.notice);
  look_at_clock(watch, beat, core.now);
  if (watch.low_disk != beat.low_disk) {
    watch.low_disk = beat.low_disk;
    usability_changed(core, *node);
  }
  core.pending.touched_nodes.insert(node->id);
}

// Takes a heartbeat. The acknowledged revision may include facts that are not durable yet. A node
// renews leases only for a revision that it has applied, so it cannot renew a lease that these
// facts end.
Heard hear(Context& core, Instant now, const HeartbeatInput& input) {
  const Heartbeat& beat = input.beat;
  const Node* node = core.state.node_with_key(input.key);
  if (node == nullptr || node->id != beat.node) return {};
  NodeWatch& watch = core.watches.at(node->id);
  const bool is_live = watch.live == beat.session && watch.refused.count(beat.session) == 0;
  if (!is_live || watch.liveness != Liveness::alive) return {};
  watch.heard = core.clock.polled();
  watch.last_heard = std::max(now, watch.last_heard);
  watch.unread.clear();
  look_at_clock(watch, beat, now);
  arm_node_timer(core, node->id);
  const bool is_all = watch.question == 0 && !beat.notice && watch.low_disk == beat.low_disk &&
                      beat.desired_revision == node->revision;
  return {AckHeartbeat{node->id, beat.session, beat.number, node->revision, now}, is_all};
}

void react(Context& core, const UnreadInput& input) {
  const Node* node = core.state.node_with_key(input.key);
  if (node != nullptr) core.watches.at(node->id).unread = input.why;
}

void react(Context& core, const ObservedInput& input) {
  const Observed& observed = input.observed;
  const Node* node = known_speaker(core, input.key, observed.node, observed.session);
  if (node == nullptr) return;
  NodeWatch& watch = core.watches.at(node->id);
  switch (identify(*node, watch, observed.session, core.clock.polled(),
                   core.config.node_lost_timeout)) {
    case Speaker::refused: refuse_again(core, input.key, observed.session, watch); return;
    case Speaker::cloned: refuse_both(core, *node, input.key, observed.session); return;
    case Speaker::stale: return;
    case Speaker::unknown: core.act(AskForSession{input.key, observed.session}); return;
    case Speaker::live: break;
  }
  heard(core, node->id);
  const bool newest = observed.sequence >= watch.words_of;
  if (newest) watch.words_of = observed.sequence;
  for (const PartReport& report : observed.parts) take_report(core, node->id, report, newest);
  for (const AttemptId& attempt : observed.removed) {
    if (watch.leftovers.erase(attempt) != 0) usability_changed(core, *node);
    lift_fence(core, attempt, node->id, RunnerRemoved{});
  }
  core.act(AckObserved{node->id, observed.session, observed.sequence});
}

}  // namespace lockstep::launcher
