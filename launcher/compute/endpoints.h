#pragma once
// The addresses of a launcher's three sockets. A request has each address twice: as nodes dial it,
// and as this machine does. The addresses become parts of commands, so only few characters are
// allowed in them.

#include <array>
#include <string>

#include "common/base/result.h"

namespace lockstep::compute {

struct Address {
  std::string host;  // a name, an IPv4 address, or an IPv6 address without its brackets
  int port = 0;
  friend bool operator==(const Address&, const Address&) = default;
};
// Reads "tcp://HOST:PORT", with brackets around an IPv6 address. Returns invalid_argument for
// another form.
Result<Address> address_from(const std::string& endpoint);
std::string to_endpoint(const Address& address);

struct Endpoints {
  Address control, bulk, join;
  std::array<Address, 3> all() const { return {control, bulk, join}; }
  friend bool operator==(const Endpoints&, const Endpoints&) = default;
};
// Whether only this machine itself reaches an address: 127.0.0.0/8, ::1 and localhost.
bool is_loopback(const Address& address);

}  // namespace lockstep::compute
