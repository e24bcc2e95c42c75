#pragma once
// A node's control connection to its launcher. It dials, and dials again after a break, at a random
// moment for each node, so that a restarted launcher does not get all handshakes at once
// (docs/decisions/045). It reports when the address does not answer, and is then given the next
// one. It knows nothing about sessions or messages. The simulated nodes of tests/bench/fleet use it
// too.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/io/clock.h"
#include "common/io/net/transport.h"

namespace lockstep::agent {

class LauncherLink {
 public:
  struct Peer {
    std::string endpoint;
    PublicKey server_key;
    io::KeyPair keys;
  };
  struct Events {
    std::function<void(io::ClientSocket::Link)> changed;
    std::function<void(const std::string& bytes)> received;
    // Called when there was no answer within give_up_after; the link continues to dial.
    std::function<void()> unanswered = {};
  };
  LauncherLink(io::EventLoop& loop, io::Transport& transport, io::Clock& clock, Peer peer,
               Events events);
  ~LauncherLink();
  LauncherLink(const LauncherLink&) = delete;
  LauncherLink& operator=(const LauncherLink&) = delete;

  Status dial();
  // Dials another endpoint from now on.
  Status dial_at(const std::string& endpoint);
  // After this time without a connection, `unanswered` is called; Duration::max(): never.
  void give_up_after(Duration silence);
  // Closes the connection to a silent launcher and dials. Does nothing while it is dialling.
  Status redial();
  // From now on, dials at a random moment within this time after a break; zero: at once.
  void reconnect_within(Duration spread) { spread_ = spread; }
  // Sends; returns unavailable if not connected.
  Status send(std::string_view bytes);

  bool is_up() const { return is_up_; }
  Instant next_deadline() const { return std::min(redial_at_, give_up_at_); }
  Status tick(Instant now);

 private:
  void on_link(io::ClientSocket::Link link);
  void receive();
  void close();
  Duration moment() const;
  void wait_for_answer();

  io::EventLoop& loop_;
  io::Transport& transport_;
  io::Clock& clock_;
  Peer peer_;
  const Events events_;
  std::optional<io::ClientSocket> socket_;
  bool is_up_ = false;
  Duration spread_{0};
  Duration silence_limit_ = Duration::max();
  Instant redial_at_ = Instant::never();
  Instant give_up_at_ = Instant::never();
};

}  // namespace lockstep::agent
