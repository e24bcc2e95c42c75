#pragma once
// The address by which other machines reach this one, as far as it can be known from here.

#include <string>

namespace lockstep::launcher {

// IPv4. The source address of the default route; else this host's name, if it resolves and to no
// loopback address; else the address of any interface that is up; else 127.0.0.1.
std::string own_address();

}  // namespace lockstep::launcher
