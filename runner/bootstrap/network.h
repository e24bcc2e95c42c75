#pragma once
// Finds the network interface of this node that leads to the other nodes of its gang. It asks the
// kernel's routing table through a connected UDP socket, which sends nothing.

#include <optional>
#include <string>

#include "runner/bootstrap/gang_context.h"

namespace lockstep::runner {

// "lo" if all nodes of the gang are on this host; otherwise the interface of the route to the first
// node on another host; otherwise the interface with this node's address. nullopt for a gang of one
// node, and if no interface can be found because a name does not resolve: then libraries choose by
// themselves.
std::optional<std::string> gang_interface(const GangContext& gang);

// The interface that owns `address` (numeric, IPv4 or IPv6), e.g. "eth0".
std::optional<std::string> interface_of(const std::string& address);
// The local address that a packet to `host` (numeric or a name) would leave from.
std::optional<std::string> source_address_towards(const std::string& host);

// "10.0.0.1:6105", "[fe80::1]:6105".
std::string host_and_port(const std::string& host, int port);

bool loopback_is_up();

}  // namespace lockstep::runner
