#pragma once
// Which network interface of this node leads to the other nodes of its gang. Asks the kernel's
// routing table (a connected UDP socket sends nothing); changes nothing.

#include <optional>
#include <string>

#include "runner/bootstrap/bootstrap.h"

namespace lockstep::runner {

// "lo" when all nodes of the gang are on this host; else the interface of the route to the first
// node on another host, else the one that owns this node's address. nullopt for a gang of one node,
// and when no interface can be told (a name that does not resolve): libraries then choose for
// themselves.
std::optional<std::string> gang_interface(const GangContext& gang);

// The interface that owns `address` (numeric, IPv4 or IPv6), e.g. "eth0".
std::optional<std::string> interface_of(const std::string& address);
// The local address that a packet to `host` (numeric or a name) would leave from.
std::optional<std::string> source_address_towards(const std::string& host);

bool loopback_is_up();

}  // namespace lockstep::runner
