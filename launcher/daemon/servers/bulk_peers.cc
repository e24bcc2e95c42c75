#include "launcher/daemon/servers/bulk_server.h"

#include <spdlog/spdlog.h>

#include "launcher/daemon/blobs/peer_reach.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

void BulkServer::find_peers(const BlobService::From& from, NodeId id, const FindPeers& ask) {
  const Core& core = durable_.core();
  FindPeersReply reply;
  reply.self = id;
  if (const Node* node = core.state().node(id); node != nullptr) {
    const auto found = peers_.find(
        durable_.now(), id, ask, [&](NodeId, NodeId peer) { return can_reach(core, *node, peer); });
    for (const NodeId peer : found.to_tell)
      nodes_.tell(peer, AllowPeers{{from.key}, ask.root, false});
    reply.core = found.core;
    reply.expected = others_with(core, *node, ask.root);
    for (const auto& peer : found.peers) {
      const Node& there = *core.state().node(peer.node);
      reply.peers.push_back({peer.node, there.name,
                             peer_endpoint(there.inventory.address, peer.port), there.key,
                             peer.fetching, peer.core});
    }
  }
  (void)sender_.send(from.peer, from.sequence, reply);
}

void BulkServer::take_report(const BlobService::From& from, NodeId id, const FetchReport& said) {
  const State& state = durable_.core().state();
  const FetchReport report = peers_.take(id, said);
  std::uint64_t bytes = 0;
  for (const auto& share : report.peers) {
    bytes += share.bytes;
    if (share.gave_wrong_data)
      spdlog::warn("node {} received wrong data from node {} and dropped the data: {}",
                   state.node_name(id), state.node_name(share.node), share.fault);
  }
  spdlog::info("node {} {} tree {}: {} from the launcher, {} from {} other nodes",
               state.node_name(id), report.whole ? "fetched" : "could not fetch",
               report.root.hex().substr(0, 12), to_string(Bytes{report.from_launcher_bytes}),
               to_string(Bytes{bytes}), report.peers.size());
  (void)sender_.send(from.peer, from.sequence, FindPeersReply{});
}

}  // namespace lockstep::launcher
