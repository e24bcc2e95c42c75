#pragma once
// A real lockstepd with a home of its own, and peers that talk to it over real CURVE sockets. All
// waits are for a condition, with a generous deadline.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/bulk.h"
#include "common/domain/messages.h"
#include "common/io/event_loop.h"
#include "common/io/transport.h"
#include "common/wire/join_token.h"
#include "launcher/daemon/endpoint_file.h"
#include "launcher/daemon/home.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::test {

inline constexpr Duration kPatience = seconds(30);

class DaemonProcess {
 public:
  DaemonProcess();
  ~DaemonProcess();

  // Starts it (again) and waits until it listens. False: it ended; exit_code() says how.
  bool start(std::vector<std::string> flags = {});
  void signal(int number);  // and waits for its end
  int exit_code() const { return exit_code_; }
  int pid() const { return pid_; }
  std::string log() const;
  const launcher::LauncherHome& home() const { return home_; }
  const launcher::EndpointFile& endpoint() const { return endpoint_; }
  void authorize(const std::string& name, const PublicKey& key);

 private:
  bool reap(bool wait);
  TempDir dir_;
  launcher::LauncherHome home_;
  launcher::EndpointFile endpoint_;
  int pid_ = 0;
  int exit_code_ = -1;
};

// A user or a node: one key, and a control, a bulk and a join socket, each dialled when it is first
// used (libzmq does not dial again after its key was turned away).
class Peer {
 public:
  explicit Peer(const launcher::EndpointFile& endpoint, io::KeyPair keys = io::generate_key_pair());
  ~Peer();

  const PublicKey& key() const { return keys_.public_key; }
  const io::KeyPair& keys() const { return keys_; }
  // nullopt: it could not be sent, or nothing came.
  std::optional<Message> ask(Message request, Duration patience = kPatience);
  template <typename Reply>
  std::optional<Reply> ask_for(Message request) {
    auto reply = ask(std::move(request));
    if (!reply || !std::holds_alternative<Reply>(*reply)) return std::nullopt;
    return std::get<Reply>(std::move(*reply));
  }
  std::optional<Message> join(const JoinRequest& request);
  void send(Message message);
  void send_raw(const std::string& bytes);
  // The next message of this type that nobody asked for.
  template <typename Body>
  std::optional<Body> next(std::function<bool(const Body&)> fits = {}) {
    std::optional<Body> found;
    wait([&] {
      for (auto it = control_in_.begin(); it != control_in_.end(); ++it) {
        const auto* body = std::get_if<Body>(&it->body);
        if (body == nullptr || (fits && !fits(*body))) continue;
        found = *body;
        control_in_.erase(it);
        return true;
      }
      return false;
    });
    return found;
  }

  void send_bulk(BulkMessage message);
  template <typename Body>
  std::optional<Body> next_bulk() {
    std::optional<Body> found;
    wait([&] {
      for (auto it = bulk_in_.begin(); it != bulk_in_.end(); ++it) {
        const auto* body = std::get_if<Body>(&it->body);
        if (body == nullptr) continue;
        found = *body;
        bulk_in_.erase(it);
        return true;
      }
      return false;
    });
    return found;
  }
  bool wait(const std::function<bool()>& condition, Duration patience = kPatience);

 private:
  io::ClientSocket& dialled(std::optional<io::ClientSocket>& socket, const std::string& endpoint);
  void receive();
  launcher::EndpointFile endpoint_;
  io::EventLoop loop_;
  io::Transport transport_;
  io::KeyPair keys_;
  std::optional<io::ClientSocket> control_, bulk_, join_;
  std::uint64_t sequence_ = 0;
  std::deque<Envelope> control_in_, join_in_;
  std::deque<BulkEnvelope> bulk_in_;
};

// A user whose key is authorised.
io::KeyPair authorized_user(DaemonProcess& daemon, const std::string& name = "ann");
// A job for anybody's nodes.
JobSpec small_job(const std::string& name = "");

}  // namespace lockstep::test
