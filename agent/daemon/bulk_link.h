#pragma once
// The agent's connection for logs. It opens when there are logs to ship and closes after a while
// without any, so that a launcher does not hold a second connection to thousands of idle nodes.

#include <optional>

#include "agent/daemon/log_shipper.h"
#include "common/io/clock.h"
#include "common/io/transport.h"

namespace lockstep::agent {

// The wait before dialling again after the launcher refused our key. libzmq does not dial again by
// itself, and the launcher may learn the key later (restored, or authorised anew).
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

  void open();  // call it early, so that the first log line need not wait for a handshake
  void ship(const AttemptId& attempt, const io::AttemptDir& directory, bool known);
  void forget(const AttemptId& attempt);
  // From its next connection on: after a break it dials when once to twice this time has passed.
  void reconnect_within(Duration spread) { spread_ = spread; }
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
  Duration spread_{0};
  Instant close_at_ = Instant::never();
  Instant redial_at_ = Instant::never();  // after a refused key or a failure to open a socket
};

}  // namespace lockstep::agent
