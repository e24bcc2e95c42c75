#pragma once
// Messages to nodes, over their control connections. It knows over which connection each session of
// a node can be reached, and puts what is for it into the outbox; what is for a node without a
// session is dropped, as the protocols allow. The control server tells it what it hears from nodes.

#include <utility>

#include "common/domain/messages/agent_protocol.h"
#include "common/io/net/transport.h"
#include "launcher/daemon/servers/node_links.h"
#include "launcher/daemon/servers/outbox.h"

namespace lockstep::launcher {

class NodeSender {
 public:
  NodeSender(Outbox& outbox, io::ServerSocket& control) : outbox_(outbox), control_(control) {}

  NodeLinks& links() { return links_; }
  const NodeLinks& links() const { return links_; }

  void tell_session(const PublicKey& key, SessionId session, AgentReply body) {
    if (auto peer = links_.peer_of(key, session))
      outbox_.put(control_, std::move(*peer), 0, std::move(body));
  }
  // Sends to the node's last accepted session.
  void tell(NodeId node, AgentReply body) {
    if (const auto current = links_.current(node))
      tell_session(current->key, current->session, std::move(body));
  }
  // Sends to all nodes except the one with this key.
  void tell_all(const AgentReply& body, const PublicKey& except = {}) {
    for (const auto& [node, link] : links_.all())
      if (link.key != except) tell_session(link.key, link.session, body);
  }

 private:
  Outbox& outbox_;
  io::ServerSocket& control_;
  NodeLinks links_;
};

}  // namespace lockstep::launcher
