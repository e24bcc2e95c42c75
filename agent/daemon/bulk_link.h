#pragma once
// The agent's connection for logs: opened when there is something to ship, closed after a while
// without, so that a launcher of thousands of idle nodes holds no second connection to each.

#include <optional>

#include "agent/daemon/log_shipper.h"
#include "common/io/clock.h"
#include "common/io/transport.h"

namespace lockstep::agent {

// When the launcher refused our key, which it may come to know later (restored, or authorised
// anew): libzmq does not dial again by itself.
inline constexpr Duration kRedialRefusedAfter = seconds(5);

class BulkLink {
 public:
  struct Peer {
    std::string endpoint;
    PublicKey server_key;
    io::KeyPair keys;
  };
  BulkLink(io::EventLoop& loop, io::Transport& transport, io::Clock& clock, Peer peer, NodeId node,
           LogShipper::Taken taken);
  ~BulkLink();
  BulkLink(const BulkLink&) = delete;
  BulkLink& operator=(const BulkLink&) = delete;

  void open();  // beforehand, so that the first line need not wait for a handshake
  void ship(const AttemptId& attempt, const io::AttemptDir& directory, bool known);
  void forget(const AttemptId& attempt);
  Instant next_deadline() const;
  void tick(Instant now);

 private:
  Status send(BulkMessage message);
  void receive();
  void dial();
  void on_link(io::ClientSocket::Link link);
  void close();

  io::EventLoop& loop_;
  io::Transport& transport_;
  io::Clock& clock_;
  const Peer peer_;
  LogShipper shipper_;
  std::optional<io::ClientSocket> socket_;
  std::uint64_t sequence_ = 0;
  Instant close_at_ = Instant::never();
  Instant redial_at_ = Instant::never();  // our key was refused, or no socket could be had
};

}  // namespace lockstep::agent
