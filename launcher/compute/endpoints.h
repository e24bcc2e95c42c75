#pragma once
// Where a launcher's three sockets are dialled. A request has the addresses twice: as nodes dial
// them, and as this machine does. What stands in them becomes a part of commands, so it is checked
// here against a small alphabet.

#include <array>
#include <string>

#include "common/base/result.h"

namespace lockstep::compute {

struct Address {
  std::string host;  // a name, an IPv4 address, or an IPv6 address without its brackets
  int port = 0;
  friend bool operator==(const Address&, const Address&) = default;
};
// "tcp://HOST:PORT"; an IPv6 address stands in brackets there. invalid_argument: it is none.
Result<Address> address_from(const std::string& endpoint);
std::string to_endpoint(const Address& address);

struct Endpoints {
  Address control, bulk, join;
  std::array<Address, 3> all() const { return {control, bulk, join}; }
  friend bool operator==(const Endpoints&, const Endpoints&) = default;
};
// Nothing but this machine itself reaches it: 127.0.0.0/8, ::1 and localhost.
bool is_loopback(const Address& address);

}  // namespace lockstep::compute
