// The core's actions as messages: the other half of control_server.cc.

#include <spdlog/spdlog.h>

#include "launcher/api/environment_queries.h"
#include "launcher/daemon/control_server.h"

namespace lockstep::launcher {

struct Performer {
  ControlServer& server;

  const Core& core() const { return server.engine_.core(); }

  void operator()(const SendDesired& action) const { server.touched_nodes_.insert(action.node); }
  void operator()(const AcceptSession& action) const {
    server.links_.accepted(action.node, action.key, action.session);
    server.send_to_session(action.key, action.session,
                           SessionAccepted{action.session, server.settings_.heartbeat_interval,
                                           core().desired_for(action.node)});
  }
  void operator()(const RefuseSession& action) const {
    spdlog::warn("session {:x} was refused: {}", action.session.value, action.reason);
    server.send_to_session(action.key, action.session,
                           SessionRefused{action.session, action.reason, action.removed});
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
            HeartbeatAck{action.session, action.number, action.revision});
  }
  void operator()(const JobChanged& action) const { server.changed_jobs_.insert(action.job); }
  void operator()(const AllowNode& action) const {
    server.gate_.allow_node(action.key, action.node);
  }
  void operator()(const RevokeNode& action) const { server.gate_.revoke_node(action.key); }

  void operator()(const ReplySubmitted& action) const {
    answer(action.to, SubmitReply{action.job, false});
  }
  void operator()(const ReplyJoined& action) const {
    spdlog::info("node {} joined as '{}'", action.node.value, action.name);
    ControlServer::Pending pending;
    if (server.take_pending(action.to, &pending))
      put(pending, JoinReply(JoinAccepted{action.node, action.name}));
  }
  void operator()(const ReplyDone& action) const { done(action.to, action.message); }
  void operator()(const ReplyDeleted& action) const { answer(action.to, action.result); }
  void operator()(const ReplyEnvironment& action) const {
    answer(action.to, show_environment(core().state(), action.name + ":" + action.version));
  }
  void operator()(const ReplyRefused& action) const {
    ControlServer::Pending pending;
    if (!server.take_pending(action.to, &pending)) return;
    if (pending.socket == &server.join_)
      return put(pending, JoinReply(JoinRefused{action.message}));
    put(pending, ClientReply(Refused{action.code, action.message}));
  }
  void operator()(const ExitDaemon& action) const {
    const auto asked = server.pending_.find(action.to.client);
    const bool by_operator = asked != server.pending_.end() && asked->second.from_operator;
    if (by_operator || !server.ending_)
      server.ending_ =
          by_operator ? ControlServer::Ending::by_operator : ControlServer::Ending::by_user;
    done(action.to, "the launcher ends");
  }

  void to_node(NodeId node, SessionId session, AgentReply body) const {
    const auto current = server.links_.current(node);
    if (current) server.send_to_session(current->key, session, std::move(body));
  }
  template <typename Body>
  void put(const ControlServer::Pending& pending, Body body) const {
    server.outbox_.put(*pending.socket, pending.peer, pending.sequence, std::move(body));
  }
  void answer(const ReplyTo& to, ClientReply body) const {
    ControlServer::Pending pending;
    if (server.take_pending(to, &pending)) put(pending, std::move(body));
  }
  // A token's text was made when it was asked for; now that its hash is durable it may be shown.
  void done(const ReplyTo& to, const std::string& message) const {
    ControlServer::Pending pending;
    if (!server.take_pending(to, &pending)) return;
    ClientReply body = Done{message};
    if (pending.token) body = std::move(*pending.token);
    put(pending, std::move(body));
  }
};

void ControlServer::perform(const ControlAction& action) { std::visit(Performer{*this}, action); }

void ControlServer::flush() {
  for (const auto& job : std::exchange(changed_jobs_, {})) {
    const auto watchers = watchers_.find(job);
    if (watchers == watchers_.end()) continue;
    const auto view = engine_.core().job_view(job);
    if (!view) continue;
    for (const auto& peer : watchers->second)
      outbox_.put(control_, peer, 0, ClientReply(JobUpdate{*view}));
    if (is_final(view->status)) watchers_.erase(watchers);
  }
  send_all();
  // One after another: that of a big gang's node is large, and has gone out before the next is
  // made.
  for (const NodeId node : std::exchange(touched_nodes_, {})) {
    const auto current = links_.current(node);
    if (!current) continue;
    send_to_session(current->key, current->session,
                    Desired{current->session, engine_.core().desired_for(node)});
    send_all();
  }
  outbox_.forget_gangs();
}

void ControlServer::send_all() {
  outbox_.flush([this](const std::string& peer) {
    for (auto& [job, peers] : watchers_) peers.erase(peer);
    std::erase_if(watchers_, [](const auto& job) { return job.second.empty(); });
  });
}

}  // namespace lockstep::launcher
