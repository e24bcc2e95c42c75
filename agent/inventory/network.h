#pragma once
// Network interfaces, and the local address of the route to the launcher.

#include <string>
#include <vector>

#include "common/domain/targets/node.h"

namespace lockstep::agent {

// Finds the interfaces. `sys`: /sys, or a fake of it (class/net/NAME/speed).
std::vector<NetworkInterface> probe_interfaces(const std::string& sys = "/sys");

// The local address from which a packet to "tcp://host:port" would leave; nothing is sent.
// 127.0.0.1 for any other kind of endpoint, and when there is no route.
std::string route_address(const std::string& endpoint);

bool is_loopback_address(const std::string& address);

}  // namespace lockstep::agent
