#pragma once
// The address by which other machines reach this one, as far as it can be known from here.

#include <string>

namespace lockstep::launcher {

// That of the default route; else this host's name, if it resolves to something that is no loopback
// address; else that of any interface; 127.0.0.1 on a machine that has none.
std::string own_address();

}  // namespace lockstep::launcher
