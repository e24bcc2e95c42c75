#pragma once
// The agent's connection for logs and for frames of attachments. It opens when there is something
// to send and closes after a while without, so that a launcher does not hold a second connection to
// thousands of idle nodes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "agent/daemon/links/log_shipper.h"
#include "common/io/clock.h"
#include "common/io/net/transport.h"

namespace lockstep::agent {

// The pause before dialling again after the launcher refused our key. libzmq does not dial again by
// itself, and the launcher may accept the key later, after a restore or a new authorisation.
inline constexpr Duration kRedialRefusedAfter = seconds(5);

class BulkLink {
 public:
  struct Peer {
    std::string endpoint;
    PublicKey server_key;
    io::KeyPair keys;
  };
  struct AttachEvents {
    std::function<void(const AttachFrame&)> received;
    std::function<void()> up;  // a connection is there, perhaps to another launcher
  };
  BulkLink(io::EventLoop& loop, io::Transport& transport, io::Clock& clock, Peer peer, NodeId node,
           LogShipper::Taken taken);
  ~BulkLink();
  BulkLink(const BulkLink&) = delete;
  BulkLink& operator=(const BulkLink&) = delete;

  // Dials this endpoint from now on; an open connection is replaced.
  void dial_at(const std::string& endpoint);
  void open();  // call it early, so that the first log line need not wait for a handshake
  void ship(const AttemptId& attempt, const io::AttemptDir& directory, bool known);
  void forget(const AttemptId& attempt);
  void on_attach(AttachEvents events) { attach_ = std::move(events); }
  void hold(bool wanted);                 // keeps the link open for attachments
  void attach(const AttachFrame& frame);  // a frame without a connection is dropped
  bool is_up() const { return is_up_; }
  // From its next connection on, the link waits after a break for between one and two times this
  // time before it dials.
  void reconnect_within(Duration spread) { spread_ = spread; }
  // Why logs and files cannot reach the launcher although its control connection is up; "": they
  // can, or there are none. While there is a reason, the link stays open and dials.
  const std::string& trouble() const { return trouble_; }
  Instant next_deadline() const;
  // `is_launcher_there`: the control link is up.
  void tick(Instant now, bool is_launcher_there = true);

 private:
  Status send(BulkMessage message);
  bool is_needed() const { return is_held_ || !shipper_.empty(); }
  void refused(std::uint64_t sequence, const BulkRefused& refusal);
  void receive();
  void dial();
  void on_link(io::ClientSocket::Link link);
  void close();
  void look_for_trouble(Instant now, bool is_launcher_there);

  io::EventLoop& loop_;
  io::Transport& transport_;
  io::Clock& clock_;
  Peer peer_;
  LogShipper shipper_;
  AttachEvents attach_;
  bool is_held_ = false;
  std::optional<io::ClientSocket> socket_;
  std::uint64_t sequence_ = 0;
  std::map<std::uint64_t, LogKey> appends_;  // the newest messages with logs, by sequence
  struct Told {
    std::string why;
    Instant at;
  };
  std::map<AttemptId, Told> told_;  // refusals that our log has
  Duration spread_{0};
  Instant close_at_ = Instant::never();
  bool is_up_ = false;
  // since when it has no connection although the launcher is reachable
  std::optional<Instant> alone_since_;
  std::string trouble_;
  // the next dial after a refused key or a failure to open a socket
  Instant redial_at_ = Instant::never();
};

}  // namespace lockstep::agent
