// The bulk server's side of attachments: the frames that it passes to them, and takes from them.

#include <spdlog/spdlog.h>

#include "launcher/daemon/servers/bulk_server.h"

namespace lockstep::launcher {

Attachments::Ports BulkServer::attachment_ports() {
  Attachments::Ports ports;
  ports.core = [this]() -> const Core& { return durable_.core(); };
  ports.client_of = [this](const PublicKey& key) { return keys_.client_of(key); };
  ports.send = [this](const std::string& peer, const AttachFrame& frame) {
    (void)sender_.send(peer, 0, frame);
  };
  ports.tell_node = [this](NodeId node, AttachWanted wanted) {
    nodes_.tell(node, std::move(wanted));
  };
  ports.record = [this](AuditEntry entry) { audit_.record(std::move(entry)); };
  ports.signaled = [this](RanksSignaledInput input) { durable_.feed(std::move(input)); };
  ports.why_not_recorded = [this] { return audit_.is_stuck(); };
  ports.warn = [](const std::string& line) { spdlog::warn("{}", line); };
  return ports;
}

void BulkServer::attach(const std::string& peer, const PublicKey& key, AttachFrame frame) {
  const std::string address = handling_ ? handling_->address : "";
  attachments_.from_client({peer, key, address}, std::move(frame), durable_.now());
}

}  // namespace lockstep::launcher
