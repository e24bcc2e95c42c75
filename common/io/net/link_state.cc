#include "common/io/net/link_state.h"

#include <zmq.h>

#include <array>
#include <cstring>

#include "common/io/net/transport.h"

namespace lockstep::io {

// Whether a socket is connected: with ZMQ_IMMEDIATE, messages can be queued only then.
bool is_connected(const ClientSocket& socket) {
  int events = 0;
  std::size_t size = sizeof events;
  return zmq_getsockopt(socket.handle(), ZMQ_EVENTS, &events, &size) == 0 &&
         (events & ZMQ_POLLOUT) != 0;
}

std::string endpoint_of(const ClientSocket& socket) {
  std::array<char, 256> text{};
  std::size_t size = text.size();
  if (zmq_getsockopt(socket.handle(), ZMQ_LAST_ENDPOINT, text.data(), &size) != 0) return "";
  return {text.data(), strnlen(text.data(), size)};
}

}  // namespace lockstep::io
