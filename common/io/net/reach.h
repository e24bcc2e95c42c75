#pragma once
// What dialling a launcher's port meets, for people: which of several ports a firewall drops.

#include <string>

#include "common/base/time.h"

namespace lockstep::io {

class ClientSocket;

// Dials tcp://HOST:PORT once, and hears whether a ZeroMQ socket greets; no key is shown. "": one
// does. Else what happened instead: "nothing comes back, so a firewall may drop it". Blocks for at
// most `timeout`, and for as long as a name takes to resolve.
std::string dial_trouble(const std::string& endpoint, Duration timeout);

// The same for a socket that is not connected: if somebody greets, they do not take us.
std::string why_not_connected(const std::string& endpoint, Duration timeout);

// Waits for the connection of a socket; false: there is none after `timeout`.
bool wait_until_connected(const ClientSocket& socket, Duration timeout);

}  // namespace lockstep::io
