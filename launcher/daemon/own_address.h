#pragma once
// The address by which other machines probably reach this one.

#include <string>

namespace lockstep::launcher {

// The address of this machine, IPv4: the source address of the default route; otherwise the address
// of this host's name, unless it is a loopback address; otherwise the address of any interface that
// is up; otherwise 127.0.0.1.
std::string own_address();

}  // namespace lockstep::launcher
