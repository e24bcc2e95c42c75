#pragma once
// What shall be sent over the control and join sockets at the end of a turn, once its facts are
// durable. In order; a peer that is gone or takes nothing loses its messages, as its protocol
// expects.

#include <functional>
#include <string>
#include <vector>

#include "common/domain/messages.h"
#include "common/io/transport.h"
#include "common/wire/control.h"

namespace lockstep::launcher {

class Outbox {
 public:
  void put(io::ServerSocket& socket, std::string peer, std::uint64_t reply_to, Message body);
  // Sends everything; `gone` is told the peers that could not be reached.
  void flush(const std::function<void(const std::string& peer)>& gone);
  // The tables of gangs are kept encoded between flushes until then.
  void forget_gangs() { desired_.forget_gangs(); }

 private:
  struct Item {
    io::ServerSocket* socket;
    std::string peer;
    Envelope envelope;
  };
  std::vector<Item> items_;
  wire::DesiredEncoder desired_;
  std::uint64_t sequence_ = 0;
};

}  // namespace lockstep::launcher
