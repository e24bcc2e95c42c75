#pragma once
// The interface by which the service sends answers and updates. Each adapter of the service
// (ZeroMQ) implements it; with several adapters, the service uses ReplyRouter (reply_router.h).

#include <cstdint>
#include <string>

#include "common/domain/messages/client_protocol.h"

namespace lockstep::launcher {

class Replies {
 public:
  virtual ~Replies() = default;
  // Sends a reply. `reply_to`: the sequence of its request; 0: an update without a request. It
  // leaves when the facts that it depends on are durable, or is dropped if the connection is gone.
  virtual void send(const std::string& connection, std::uint64_t reply_to, ClientReply reply) = 0;
  virtual bool is_gone(const std::string& connection) const = 0;  // as far as is known
};

}  // namespace lockstep::launcher
