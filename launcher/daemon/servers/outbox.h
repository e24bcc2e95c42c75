#pragma once
// Messages to send, in order, over the control and join sockets at the end of a turn, once its
// facts are durable: while they are being written, hold() keeps what was put before. Messages to a
// peer that is gone or whose queue is full are dropped; the protocols allow for that.

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/domain/messages/agent_protocol.h"
#include "common/domain/messages/client_protocol.h"
#include "common/domain/messages/join_protocol.h"
#include "common/io/net/transport.h"
#include "common/wire/messages/control.h"

namespace lockstep::launcher {

class Outbox {
 public:
  template <typename Body>
  void put(io::ServerSocket& socket, std::string peer, std::uint64_t reply_to, Body body) {
    if constexpr (std::is_same_v<Body, ClientReply>) pages_ += is_page(body) ? 1 : 0;
    items_.push_back(std::make_unique<Item>(
        Item{&socket, std::move(peer),
             Envelope<Body>{kProtocolVersion, ++sequence_, reply_to, 0, std::move(body)}}));
  }
  // Keeps what was put until now from flush(), until release(): it rests on facts that are not
  // durable yet. What is put meanwhile does not, and the launcher's status is told at any time.
  void hold();
  void release();
  // Visits the held replies to users.
  void each_held_reply(
      const std::function<void(const std::string& peer, std::uint64_t reply_to)>& visit) const;
  // True when as many large answers wait as may; take no more requests before they are sent.
  bool is_full() const { return pages_ >= kMostPages; }
  // Sends everything, to each peer in the order in which it was put; calls `gone` with each peer
  // that a message could not be sent to.
  void flush(const std::function<void(const std::string& peer)>& gone);
  // Drops the gangs' encoded tables, which are otherwise kept from one flush() to the next.
  void forget_gangs() { desired_.forget_gangs(); }

 private:
  static constexpr int kMostPages = 4;
  static bool is_page(const ClientReply& body);
  struct Item {
    io::ServerSocket* socket;
    std::string peer;
    std::variant<Envelope<AgentReply>, Envelope<ClientReply>, Envelope<JoinReply>> envelope;
  };
  std::string encode(Envelope<AgentReply>& envelope);
  std::string encode(Envelope<ClientReply>& envelope);
  std::string encode(Envelope<JoinReply>& envelope);

  using Items = std::vector<std::unique_ptr<Item>>;  // an item is large, and moved several times

  Items items_, held_;
  wire::DesiredEncoder desired_;
  std::uint64_t sequence_ = 0;
  int pages_ = 0;
};

}  // namespace lockstep::launcher
