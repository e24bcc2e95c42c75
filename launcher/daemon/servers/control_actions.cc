// Sends the core's actions as messages to nodes; servers/control_server.cc is the other half.

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/domain/why/nodes/nodes.h"
#include "launcher/api/reply_router.h"
#include "launcher/daemon/servers/control_server.h"
#include "launcher/state/state.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

// How long this many nodes take to reconnect after a restart (docs/decisions/045). A handshake with
// a session costs 0.7 ms of CPU.
Duration reconnect_within(const State& state) {
  constexpr std::size_t kFew = 200;
  constexpr Duration kOfNode = milliseconds(1), kMost = seconds(60);
  const std::size_t nodes = state.nodes().size();
  if (nodes < kFew) return Duration::zero();
  return std::min<Duration>(kOfNode * static_cast<std::int64_t>(nodes), kMost);
}

// The error in a node's report, for the audit log. This reason's sentence has no subject.
std::string what_is_wrong(const Why& why) {
  return (why.is<NodeClaimsAnothersMachine>() ? "it " : "") + words::text_of(why);
}

}  // namespace

struct Performer {
  LauncherServer& server;

  void operator()(const SendDesired& action) const { server.touched_nodes_.insert(action.node); }
  void operator()(const AcceptSession& action) const {
    server.nodes_.links().accepted(action.node, action.key, action.session);
    server.nodes_.tell_session(action.key, action.session,
                               SessionAccepted{action.session, server.settings_.heartbeat_interval,
                                               server.desired_for(action.node),
                                               reconnect_within(server.durable_.core().state()),
                                               server.settings_.addresses});
  }
  void operator()(const RefuseSession& action) const {
    const std::string why = words::text_of(action.why);
    spdlog::warn("session {:x} was refused: {}", action.session.value, why);
    server.audit(server.holder_of(action.key), action.key,
                 server.nodes_.links().address_of(action.key), "open a session", "the launcher",
                 AuditOutcome::refused, why);
    server.nodes_.tell_session(action.key, action.session,
                               SessionRefused{action.session, why, action.removed});
  }
  void operator()(const AskForSession& action) const {
    server.nodes_.tell_session(action.key, action.session,
                               SessionLost{action.session, action.question});
  }
  void operator()(const AckObserved& action) const {
    to_node(action.node, action.session, ObservedAck{action.session, action.sequence});
  }
  void operator()(const AckHeartbeat& action) const {
    to_node(action.node, action.session,
            HeartbeatAck{action.session, action.number, action.revision, action.time});
  }
  void operator()(const AllowNode& action) const {
    server.keys_.allow_node(action.key, action.node);
  }
  // Other nodes may be sending files to it now.
  void operator()(const RevokeNode& action) const {
    server.keys_.revoke_node(action.key);
    server.nodes_.tell_all(AllowPeers{{}, {}, false, {action.key}}, action.key);
  }

  void operator()(const AllowUser& action) const {
    server.keys_.allow_user(action.key, action.user, action.from_file);
  }
  void operator()(const RevokeUser& action) const { server.keys_.revoke_user(action.key); }
  // A client with the key of a removed user learns that when it connects.
  void operator()(const UserChanged& action) const {
    const Principals& principals = server.durable_.core().state().principals();
    if (principals.user(action.user) == nullptr) server.keys_.remove_user(action.user);
    server.secrets_.follow(principals);
  }
  void operator()(const ReplyJoined& action) const {
    spdlog::info("node {} joined as '{}'", action.node.value, action.name);
    const auto joining = server.take_joining(action.to);
    if (!joining) return;
    server.audit("node " + action.name, joining->key, joining->address, "join",
                 "node " + action.name, AuditOutcome::done, "");
    server.outbox_.put(server.join_, joining->peer, joining->sequence,
                       JoinReply(JoinAccepted{action.node, action.name}));
  }
  void operator()(const ReportRefused& action) const {
    const Node* node = server.durable_.core().state().node(action.node);
    if (node == nullptr) return;
    server.audit("node " + node->name, node->key, server.nodes_.links().address_of(node->key),
                 "report", action.object, AuditOutcome::refused, what_is_wrong(action.why));
  }

  void to_node(NodeId node, SessionId session, AgentReply body) const {
    const auto current = server.nodes_.links().current(node);
    if (current) server.nodes_.tell_session(current->key, session, std::move(body));
  }
};

void LauncherServer::perform(const ControlAction& action) { std::visit(Performer{*this}, action); }

bool LauncherServer::refuse_join(const ReplyRefused& action) {
  const auto joining = take_joining(action.to);
  if (!joining) return false;
  audit(holder_of(joining->key), joining->key, joining->address, "join", "node " + joining->name,
        AuditOutcome::refused, action.message);
  outbox_.put(join_, joining->peer, joining->sequence, JoinReply(JoinRefused{action.message}));
  return true;
}

void LauncherServer::tell_addresses(std::vector<LauncherAddress> addresses) {
  settings_.addresses = std::move(addresses);
  nodes_.tell_all(LauncherAddresses{settings_.addresses});
}

void LauncherServer::flush() {
  send_all();
  // The nodes get their messages one after another: the message for a node of a big gang is large,
  // and is sent before the next is made.
  for (const NodeId node : std::exchange(touched_nodes_, {})) {
    const auto current = nodes_.links().current(node);
    if (!current) continue;
    nodes_.tell_session(current->key, current->session,
                        Desired{current->session, desired_for(node)});
    send_all();
  }
  outbox_.forget_gangs();
}

// The audit log is written before any answer is sent.
void LauncherServer::send_all() {
  audit_.write();
  outbox_.flush([this](const std::string& peer) {
    service_.gone(ReplyRouter::connection_of(kAdapter, peer));
  });
}

}  // namespace lockstep::launcher
