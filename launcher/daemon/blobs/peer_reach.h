#pragma once
// Decides which nodes can fetch blobs from each other, and at which address. Pure: it depends only
// on the core's state.

#include <cstdint>
#include <string>

#include "common/base/digest.h"
#include "common/base/ids.h"

namespace lockstep::launcher {

class Core;
struct Node;

// Whether the node can probably dial the peer: it is alive, on the same network and has an address.
// A node whose address is loopback has peers on its own host alone.
bool can_reach(const Core& core, const Node& asker, NodeId peer);

// The number of other nodes within reach that run a part with this tree in an attempt of this node.
// At most as many as are named to a node at once.
std::uint32_t others_with(const Core& core, const Node& node, const Digest& tree);

// "tcp://HOST:PORT" of a numeric address; brackets around an IPv6 one.
std::string peer_endpoint(const std::string& address, std::uint16_t port);

}  // namespace lockstep::launcher
