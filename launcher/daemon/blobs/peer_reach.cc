#include "launcher/daemon/blobs/peer_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "launcher/core/core.h"
#include "launcher/daemon/blobs/peer_directory.h"
#include "launcher/state/roots.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

bool can_reach(const Core& core, const Node& asker, NodeId id) {
  const Node* peer = core.state().node(id);
  if (peer == nullptr || core.liveness(id) != Liveness::alive) return false;
  const Inventory& here = asker.inventory;
  const Inventory& there = peer->inventory;
  if (here.network != there.network || there.address.empty()) return false;
  const bool is_local = here.address_is_loopback || there.address_is_loopback;
  return !is_local || here.host_id == there.host_id;
}

std::uint32_t others_with(const Core& core, const Node& node, const Digest& tree) {
  std::set<NodeId> others;
  for (const auto& [id, node_rank] : node.parts) {
    bool has_tree = false;
    each_tree_of(*core.state().job(id.job), [&](const Digest& one) { has_tree |= one == tree; });
    if (!has_tree) continue;
    for (const Part& part : core.state().attempt(id)->parts)
      if (part.node != node.id && can_reach(core, node, part.node)) others.insert(part.node);
  }
  return static_cast<std::uint32_t>(std::min(others.size(), kPeerCore - 1));
}

std::string peer_endpoint(const std::string& address, std::uint16_t port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  return fmt::format("tcp://{}:{}", is_v6 ? "[" + address + "]" : address, port);
}

}  // namespace lockstep::launcher
