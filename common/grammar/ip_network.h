#pragma once
// IP addresses and networks as text: whether "10.1.0.0/16" has "10.1.2.3". It asks no resolver.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace lockstep {

struct IpNetwork {
  std::array<std::uint8_t, 16> bytes = {};  // IPv4 uses the first four
  bool is_v4 = false;
  int prefix = 0;  // bits
};

// Reads a network. An address without a prefix length is a network of its own. nullopt: the text is
// not a network, or has bits behind its prefix.
std::optional<IpNetwork> parse_ip_network(const std::string& text);

// Whether a network has an address, which is written without a prefix length. False for a text that
// is not an address.
bool has_address(const IpNetwork& network, const std::string& address);

// Whether an address is of fe80::/10 or 169.254.0.0/16, which no router passes on.
bool is_link_local(const std::string& address);

}  // namespace lockstep
