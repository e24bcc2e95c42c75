// The core's actions as messages: the other half of launcher_server.cc.

#include <spdlog/spdlog.h>

#include <algorithm>

#include "launcher/core/state.h"
#include "launcher/daemon/auditor.h"
#include "launcher/daemon/launcher_server.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

// The time in which this many nodes come back after a restart (docs/decisions/045). A handshake
// with a session costs 0.7 ms of CPU.
Duration reconnect_within(const State& state) {
  constexpr std::size_t kFew = 200;
  constexpr Duration kOfNode = milliseconds(1), kMost = seconds(60);
  const std::size_t nodes = state.nodes().size();
  if (nodes < kFew) return Duration::zero();
  return std::min<Duration>(kOfNode * static_cast<std::int64_t>(nodes), kMost);
}

}  // namespace

struct Performer {
  LauncherServer& server;

  void operator()(const SendDesired& action) const { server.touched_nodes_.insert(action.node); }
  void operator()(const AcceptSession& action) const {
    server.links_.accepted(action.node, action.key, action.session);
    server.send_to_session(action.key, action.session,
                           SessionAccepted{action.session, server.settings_.heartbeat_interval,
                                           server.desired_for(action.node),
                                           reconnect_within(server.durable_.core().state()),
                                           server.settings_.addresses});
  }
  void operator()(const RefuseSession& action) const {
    const std::string why = words::text_of(action.why);
    spdlog::warn("session {:x} was refused: {}", action.session.value, why);
    server.audit(server.holder_of(action.key), action.key, server.links_.address_of(action.key),
                 "open a session", "the launcher", AuditOutcome::refused, why);
    server.send_to_session(action.key, action.session,
                           SessionRefused{action.session, why, action.removed});
  }
  void operator()(const AskForSession& action) const {
    server.send_to_session(action.key, action.session,
                           SessionLost{action.session, action.question});
  }
  void operator()(const AckObserved& action) const {
    to_node(action.node, action.session, ObservedAck{action.session, action.sequence});
  }
  void operator()(const AckHeartbeat& action) const {
    to_node(action.node, action.session,
            HeartbeatAck{action.session, action.number, action.revision, action.time});
  }
  void operator()(const JobChanged& action) const { server.service_.perform(action); }
  void operator()(const AllowNode& action) const {
    server.keys_.allow_node(action.key, action.node);
  }
  // Other nodes may be sending it files just now.
  void operator()(const RevokeNode& action) const {
    server.keys_.revoke_node(action.key);
    for (const auto& [node, link] : server.links_.all())
      if (link.key != action.key)
        server.send_to_session(link.key, link.session, AllowPeers{{}, {}, false, {action.key}});
  }

  void operator()(const AllowUser& action) const {
    server.keys_.allow_user(action.key, action.user, action.from_file);
  }
  void operator()(const RevokeUser& action) const {
    server.keys_.revoke_user(action.key);
    server.service_.perform(action);
  }
  // Whoever has a key of a removed user is told so when they connect.
  void operator()(const UserChanged& action) const {
    const Principals& principals = server.durable_.core().state().principals();
    if (principals.user(action.user) == nullptr) server.keys_.remove_user(action.user);
    server.settings_.secrets->follow(principals);
  }
  void operator()(const ReplySubmitted& action) const { server.service_.perform(action); }
  void operator()(const ReplyJoined& action) const {
    spdlog::info("node {} joined as '{}'", action.node.value, action.name);
    const auto joining = server.take_joining(action.to);
    if (!joining) return;
    server.audit("node " + action.name, joining->key, joining->address, "join",
                 "node " + action.name, AuditOutcome::done, "");
    server.outbox_.put(server.join_, joining->peer, joining->sequence,
                       JoinReply(JoinAccepted{action.node, action.name}));
  }
  void operator()(const ReplyDone& action) const { server.service_.perform(action); }
  void operator()(const ReplyDeleted& action) const { server.service_.perform(action); }
  void operator()(const ReplyEnvironment& action) const { server.service_.perform(action); }
  void operator()(const ReplyCompute& action) const { server.service_.perform(action); }
  void operator()(const ReplySizes& action) const { server.service_.perform(action); }
  void operator()(const ReplyAsset& action) const { server.service_.perform(action); }
  // The operator's file as it is now decides where to, and whether the job may.
  void operator()(const WriteOutput& action) const {
    const auto done = [&server = server, job = action.job, order = action.order,
                       output = action.output](const Status& written) {
      server.durable_.feed(
          OutputWrittenInput{job, order, output, written ? "" : written.error().message});
    };
    const auto stores = server.datastores();
    if (!stores) {
      spdlog::warn("{}", stores.error().message);
      return done(make_error(ErrorCode::unavailable,
                             "the launcher's datastores.yml cannot be used; an admin is told why"));
    }
    const auto to = remote_of(*stores, action);
    if (!to) return done(to.error());
    server.settings_.write_remote(action, *to, done);
  }
  // The rest of it is the compactor's part.
  void operator()(const ForgetJob& action) const {
    if (!action.is_by_limit || server.settings_.audit == nullptr) return;
    AuditEntry entry;
    entry.who = name_of(LauncherItself{});
    entry.what = "delete jobs";
    entry.object = "job " + action.job.value;
    entry.outcome = AuditOutcome::done;
    entry.detail = words::text_of(action.why);
    entry.project = action.project;
    server.settings_.audit->record(std::move(entry));
  }
  void operator()(const ReplyRefused& action) const {
    if (const auto joining = server.take_joining(action.to)) {
      server.audit(server.holder_of(joining->key), joining->key, joining->address, "join",
                   "node " + joining->name, AuditOutcome::refused, action.message);
      return server.outbox_.put(server.join_, joining->peer, joining->sequence,
                                JoinReply(JoinRefused{action.message}));
    }
    server.service_.perform(action);
  }
  void operator()(const ExitDaemon& action) const {
    server.service_.perform(action);
    server.exit_granted_ = true;
  }

  void operator()(const ReportRefused& action) const {
    const Node* node = server.durable_.core().state().node(action.node);
    if (node == nullptr) return;
    server.audit("node " + node->name, node->key, server.links_.address_of(node->key), "report",
                 action.object, AuditOutcome::refused, words::text_of(action.why));
  }

  void to_node(NodeId node, SessionId session, AgentReply body) const {
    const auto current = server.links_.current(node);
    if (current) server.send_to_session(current->key, session, std::move(body));
  }
};

void LauncherServer::perform(const ControlAction& action) { std::visit(Performer{*this}, action); }

void LauncherServer::tell_addresses(std::vector<LauncherAddress> addresses) {
  settings_.addresses = std::move(addresses);
  for (const auto& [node, link] : links_.all())
    send_to_session(link.key, link.session, LauncherAddresses{settings_.addresses});
}

void LauncherServer::flush() {
  service_.flush();
  send_all();
  // One after another: that of a big gang's node is large, and has gone out before the next is
  // made.
  for (const NodeId node : std::exchange(touched_nodes_, {})) {
    const auto current = links_.current(node);
    if (!current) continue;
    send_to_session(current->key, current->session, Desired{current->session, desired_for(node)});
    send_all();
  }
  outbox_.forget_gangs();
}

// What was done is written down before anybody hears of it.
void LauncherServer::send_all() {
  if (settings_.audit != nullptr) settings_.audit->write();
  outbox_.flush([this](const std::string& peer) { service_.gone(peer); });
}

}  // namespace lockstep::launcher
