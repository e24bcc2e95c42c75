#pragma once
// Reads the addresses and routes of this process's network namespace. It opens no connection, and
// asks no resolver.

#include <string>
#include <vector>

#include "runner/fabric/probe/candidates.h"

namespace lockstep::runner {

// The addresses of this machine that the kernel tells; empty where it tells none.
std::vector<LocalAddress> local_addresses();

// The table of IPv4 routes as text, for fingerprint_of(); "" where it cannot be read.
std::string routes_text();

}  // namespace lockstep::runner
