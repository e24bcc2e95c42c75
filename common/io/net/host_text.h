#pragma once
// The form of the HOST in tcp://HOST:PORT. libzmq refuses to dial some texts at once, so an address
// is checked where a person or a peer gives it.

#include <string_view>

namespace lockstep::io {

// True for a name (letters, digits, '-', '_' and '.', the first a letter or digit), an IPv4
// address, or an IPv6 address with or without brackets, to which a zone (%eth0) may belong. Nothing
// is resolved. False for "*".
bool is_host(std::string_view text);

}  // namespace lockstep::io
