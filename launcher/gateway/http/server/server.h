#pragma once
// The sockets of the gateway: it accepts, reads, writes, encrypts and closes, on the loop of its
// owner, and leaves HTTP to Connection and requests to a handler. What is bounded: connections, by
// address and in all, where those that have shown no credential give way (Admission); the bytes and
// the time of each (Limits). It blocks nowhere.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/io/clock.h"
#include "common/io/descriptor_set.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "common/io/net/admission.h"
#include "launcher/gateway/http/message/exchange.h"
#include "launcher/gateway/http/server/access_log.h"
#include "launcher/gateway/http/server/connection.h"
#include "launcher/gateway/http/tls/tls.h"

namespace lockstep::http {

class Server {
 public:
  struct Settings {
    Connection::Settings connection = {};
    io::Admission::Limits connections = {4'000, 3'000, 2'000, 1'000};
  };
  struct Ports {
    std::function<void(std::shared_ptr<Exchange>)> handle;
    std::function<void(const AccessRecord&)> log = [](const AccessRecord&) {};
  };
  Server(io::EventLoop& loop, io::Clock& clock, Settings settings, Ports ports);
  ~Server();  // ends all connections and their exchanges
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Serves a listening TCP or unix socket. `is_tls` needs a certificate first.
  Status listen(io::Fd listener, bool is_tls);
  // For connections that begin from now on; those there are keep theirs.
  void use_certificate(std::shared_ptr<const TlsContext> context) { tls_ = std::move(context); }

  // When tick() is to be called; never() if nothing is due.
  Instant deadline() const;
  void tick();

  // Takes no more connections, and ends those there are when what they began is answered.
  void drain();
  std::size_t connections() const { return peers_.size(); }

 private:
  struct Peer;
  class ServedExchange;
  struct Listener {
    io::Fd fd;
    bool is_tls = false;
  };

  void accept_from(const Listener& listener);
  void admit(io::Fd fd, const io::Admission::Peer& from, bool is_tls);
  void pause_listening();
  void resume_listening();
  void read_from(Peer& peer);
  void received(Peer& peer, std::string_view bytes);
  void wake(const std::shared_ptr<Peer>& peer);
  void wake_later(const std::shared_ptr<Peer>& peer);
  void drive_woken();
  void drive(const std::shared_ptr<Peer>& peer);
  void handle_events(const std::shared_ptr<Peer>& peer);
  void begin(const std::shared_ptr<Peer>& peer, Request request);
  void end(Peer& peer, const AccessRecord& how);
  bool write_to(Peer& peer);
  bool write_plain(Peer& peer);
  bool write_encrypted(Peer& peer);
  bool send_some(Peer& peer, std::string_view bytes, std::size_t* sent);
  void end_output(Peer& peer);
  void settle(const std::shared_ptr<Peer>& peer);
  void forget(const std::shared_ptr<Peer>& peer);

  io::EventLoop& loop_;
  io::Clock& clock_;
  const Settings settings_;
  const Ports ports_;
  io::DescriptorSet descriptors_;
  io::Admission admission_;
  std::shared_ptr<const TlsContext> tls_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  Instant listening_again_ = Instant::never();

  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Peer>> peers_;  // by number
  std::map<int, std::uint64_t> numbers_;                  // by descriptor
  std::set<std::pair<Instant, std::uint64_t>> due_;
  std::vector<std::shared_ptr<Peer>> woken_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace lockstep::http
