// Applies facts about join tokens and nodes to the state.

#include <algorithm>
#include <utility>

#include "common/domain/why/jobs/events.h"
#include "launcher/state/applier.h"

namespace lockstep::launcher {

void State::Applier::operator()(const TokenCreated& fact) const {
  state.tokens_.emplace(fact.secret_hash, Token{fact.expires, fact.uses, 0, fact.approval,
                                                pool_in(fact), fact.machine, at, fact.by});
}

void State::Applier::operator()(const NodeRevised& fact) const {
  Node& node = state.node_ref(fact.node);
  node.revision = fact.revision;
  if (!fact.history.empty()) node.history = fact.history;
}

// Begins an incarnation. After a restore, a node may have applied revisions that the backup does
// not have. Incarnations are milliseconds, so they are greater than any count of revisions.
void State::Applier::operator()(const IncarnationBegan& fact) const {
  state.incarnation_ = std::max(state.incarnation_, fact.incarnation);
  if (!fact.restored) return;
  state.restored_at_ = at;
  for (auto& [id, node] : state.nodes_) node.revision = std::max(node.revision, fact.incarnation);
}

void State::Applier::operator()(const NodeJoined& fact) const {
  Node node;
  node.id = fact.node;
  node.name = fact.name;
  node.key = fact.key;
  node.joined = at;
  node.waits_for_approval = fact.waits_for_approval;
  node.pool = pool_in(fact);
  node.machine = fact.machine;
  node.machine_id = fact.machine_id;
  state.computes_.add_node(node.pool, fact.node);
  if (!node.machine.empty()) {
    state.computes_.machine_joined(at, node.pool, node.machine, fact.node);
    node.labels = state.computes_.kept_labels(node.pool, node.machine);
  }
  state.keys_[fact.key] = fact.node;
  state.names_[fact.name] = fact.node;
  state.next_node_ = std::max(state.next_node_, fact.node.value + 1);
  const auto token = state.tokens_.find(fact.token);
  if (token != state.tokens_.end()) ++token->second.used;
  record(node, "Joined", node.waits_for_approval ? Why(ApprovalPending{}) : Why());
  state.nodes_.emplace(fact.node, std::move(node));
}

void State::Applier::operator()(const NodeApproved& fact) const {
  Node& node = state.node_ref(fact.node);
  node.waits_for_approval = false;
  record(node, "Approved", fact.by.empty() ? Why() : Why(DoneBy{AskedBy{fact.by}}));
}

void State::Applier::operator()(const NodeSessionStarted& fact) const {
  Node& node = state.node_ref(fact.node);
  record_session(node, fact);
  node.agent_version = fact.version;
  if (node.session && *node.session != fact.session) {
    node.past_sessions.push_back(*node.session);
    if (node.past_sessions.size() > kMaxPastSessions)
      node.past_sessions.erase(node.past_sessions.begin());
  }
  state.shares_.node_changed(node.pool, node.inventory, fact.inventory);
  node.session = fact.session;
  node.boot = fact.boot;
  claim_host(node, fact);
  state.leave_host(node);
  node.inventory = fact.inventory;
  if (!node.inventory.host_id.empty()) state.hosts_[node.inventory.host_id].insert(node.id);
  state.note_isolated(node);
  node.lost.reset();
  node.notice.reset();
  node.cannot_run_as.clear();
}

// Records a session. A fact of a known session only brings a new inventory.
void State::Applier::record_session(Node& node, const NodeSessionStarted& fact) const {
  const Why agent = fact.version.empty() ? Why() : Why(AgentHasVersion{fact.version});
  if (node.lost)
    record(node, "Returned", agent);
  else if (node.session && node.boot != fact.boot)
    record(node, "Rebooted", agent);
  else if (node.session != fact.session)
    record(node, "AgentStarted", agent);
}

void State::Applier::claim_host(Node& node, const NodeSessionStarted& fact) const {
  const std::string& host = fact.inventory.host_id;
  const bool is_first = node.host_claim.group.value == 0 && !host.empty();
  if (fact.claim) node.host_claim = *fact.claim;
  if (fact.claim || host == node.inventory.host_id) return;
  node.host_claim.since = at;
  if (!is_first) return;
  node.host_claim.group = node.id;
  for (const NodeId other : state.nodes_on_host(host)) {
    const Node& there = *state.node(other);
    if (there.lost) continue;
    node.host_claim.group = there.host_claim.group;
    return;
  }
}

void State::Applier::operator()(const NodeLost& fact) const {
  Node& node = state.node_ref(fact.node);
  node.lost = fact.why;
  record(node, "Lost", fact.why);
}

void State::Applier::operator()(const NodeDrainChanged& fact) const {
  Node& node = state.node_ref(fact.node);
  node.drain.reset();
  if (fact.draining) node.drain = fact.reason;
  record(node, fact.draining ? "Drained" : "Resumed", beginning(fact.reason));
}

void State::Applier::operator()(const NodeNoticed& fact) const {
  Node& node = state.node_ref(fact.node);
  node.notice = Node::Notice{fact.until, fact.why};
  record(node, "TakenAway", TakenAwayAt{fact.until, fact.why});
}

void State::Applier::operator()(const NodeRemoved& fact) const {
  const Node& node = state.node_ref(fact.node);
  CHECK(node.parts.empty(), "a node is removed only when it holds nothing");
  state.removed_[fact.node] = RemovedNode{node.name, node.key, fact.by, at};
  if (fact.labels.empty())
    state.labels_of_removed_.erase({node.machine_id, node.name});
  else
    state.labels_of_removed_[{node.machine_id, node.name}] = fact.labels;
  state.revoked_[node.key] = fact.node;
  state.keys_.erase(node.key);
  state.names_.erase(node.name);
  state.fenced_.erase(fact.node);
  state.leave_host(node);
  state.computes_.remove_node(node.pool, fact.node);
  state.shares_.node_changed(node.pool, node.inventory, {});
  if (!node.machine.empty()) state.computes_.machine_left(at, node.pool, node.machine, fact.node);
  state.nodes_.erase(fact.node);
}

void State::Applier::operator()(const NodeLabelsChanged& fact) const {
  Node& node = state.node_ref(fact.node);
  node.labels = fact.labels;
  if (!node.machine.empty()) state.computes_.keep_labels(node.pool, node.machine, fact.labels);
  record(node, "Labelled", beginning(labels_text(fact.labels)));
}

}  // namespace lockstep::launcher
