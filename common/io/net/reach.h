#pragma once
// Finds out why a launcher's port cannot be reached, for people, such as which of several ports a
// firewall drops.

#include <string>

#include "common/base/time.h"

namespace lockstep::io {

class ClientSocket;

// Dials tcp://HOST:PORT once and waits for a ZeroMQ greeting; it shows no key. "": the greeting
// came. Otherwise what happened instead: "nothing comes back, so a firewall may drop it". Blocks
// for at most `timeout`, plus the time to resolve a name.
std::string dial_trouble(const std::string& endpoint, Duration timeout);

// Tells why a socket is not connected: if a greeting comes, the server refuses our key.
std::string why_not_connected(const std::string& endpoint, Duration timeout);

// Waits until a socket is connected; false: it was not within `timeout`.
bool wait_until_connected(const ClientSocket& socket, Duration timeout);

}  // namespace lockstep::io
