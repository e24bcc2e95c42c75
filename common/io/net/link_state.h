#pragma once
// The state of a client socket's connection, for callers that poll. ClientSocket::watch_link
// reports changes instead.

#include <string>

namespace lockstep::io {

class ClientSocket;

// Whether a message could be sent now: a connection stands, and the server has accepted our key. It
// stands also while the other program is stopped.
bool is_connected(const ClientSocket& socket);
// The endpoint that the socket dials.
std::string endpoint_of(const ClientSocket& socket);

}  // namespace lockstep::io
