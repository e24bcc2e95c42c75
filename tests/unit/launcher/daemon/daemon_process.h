#pragma once
// A real lockstepd with a temporary home, and peers that talk to it over real CURVE sockets. Every
// wait is for a condition, with a generous deadline.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "common/domain/messages/agent_protocol.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/domain/messages/client_protocol.h"
#include "common/domain/messages/join_protocol.h"
#include "common/io/event_loop.h"
#include "common/io/net/transport.h"
#include "common/wire/join_token.h"
#include "launcher/home/endpoint_file.h"
#include "launcher/home/layout.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::test {

inline constexpr Duration kTimeout = seconds(30);

template <typename T, typename Variant>
inline constexpr bool kHolds = false;
template <typename T, typename... Types>
inline constexpr bool kHolds<T, std::variant<Types...>> = (std::is_same_v<T, Types> || ...);

class DaemonProcess {
 public:
  DaemonProcess();
  ~DaemonProcess();

  // Starts the daemon (again) and waits until it listens. False: it ended; exit_code() says how.
  bool start(std::vector<std::string> flags = {});
  void limit_open_files(int most) { open_files_ = most; }  // for the next start; 0: our own limit
  void signal(int number);                                 // sends it and waits for the end
  int exit_code() const { return exit_code_; }
  int pid() const { return pid_; }
  std::string log() const;
  const launcher::LauncherHome& home() const { return home_; }
  const launcher::EndpointFile& endpoint() const { return endpoint_; }
  // Makes a submitter of the default project by a line in keys/authorized_users.
  void authorize(const std::string& name, const PublicKey& key);

 private:
  bool reap(bool wait);
  void make_ann_admin();
  TempDir dir_;
  launcher::LauncherHome home_;
  launcher::EndpointFile endpoint_;
  io::KeyPair owner_;  // of the account that runs the daemon: an admin from the first start
  int pid_ = 0;
  int exit_code_ = -1;
  int open_files_ = 0;
};

// A user or a node: one key, and a control, a bulk and a join socket. Each is connected at its
// first use, because libzmq does not connect again after its key was refused.
class Peer {
 public:
  explicit Peer(const launcher::EndpointFile& endpoint, io::KeyPair keys = io::generate_key_pair());
  ~Peer();

  const PublicKey& key() const { return keys_.public_key; }
  const io::KeyPair& keys() const { return keys_; }
  // The messages that a peer can send, including some that it should not.
  using Saying = std::variant<ClientRequest, AgentMessage, ClientReply>;
  // A received message of either protocol.
  struct Heard {
    std::uint64_t reply_to = 0;
    std::variant<ClientReply, AgentReply> body;
    template <typename T>
    const T* get_if() const {
      return std::visit(
          [](const auto& of_protocol) -> const T* {
            if constexpr (kHolds<T, std::decay_t<decltype(of_protocol)>>)
              return std::get_if<T>(&of_protocol);
            return nullptr;
          },
          body);
    }
  };
  // The answer; nullopt: the request could not be sent, or no answer came in time.
  std::optional<Heard> ask(Saying request, Duration timeout = kTimeout);
  template <typename Reply>
  std::optional<Reply> ask_for(Saying request) {
    const auto reply = ask(std::move(request));
    const Reply* good = reply ? reply->get_if<Reply>() : nullptr;
    return good ? std::optional<Reply>(*good) : std::nullopt;
  }
  std::optional<JoinReply> join(const JoinRequest& request);
  void send(Saying message);
  void send_join(const JoinRequest& request);  // does not wait for the reply
  void send_raw(const std::string& bytes);
  // The next unsolicited message of this type.
  template <typename Body>
  std::optional<Body> next(std::function<bool(const Body&)> fits = {}) {
    std::optional<Body> found;
    wait([&] {
      found = take<Body>(fits);
      return found.has_value();
    });
    return found;
  }
  // The first one of this type that has come.
  template <typename Body>
  std::optional<Body> take(const std::function<bool(const Body&)>& fits = {}) {
    for (auto it = control_in_.begin(); it != control_in_.end(); ++it) {
      const auto* body = it->get_if<Body>();
      if (body == nullptr || (fits && !fits(*body))) continue;
      std::optional<Body> found = *body;
      control_in_.erase(it);
      return found;
    }
    return std::nullopt;
  }

  void send_bulk(BulkMessage message);
  template <typename Body>
  std::optional<Body> next_bulk() {
    std::optional<Body> found;
    wait([&] {
      found = take_bulk<Body>();
      return found.has_value();
    });
    return found;
  }
  // The first bulk message of this type that has come.
  template <typename Body>
  std::optional<Body> take_bulk() {
    for (auto it = bulk_in_.begin(); it != bulk_in_.end(); ++it) {
      auto* body = std::get_if<Body>(&it->body);
      if (body == nullptr) continue;
      std::optional<Body> found = std::move(*body);
      bulk_in_.erase(it);
      return found;
    }
    return std::nullopt;
  }
  bool wait(const std::function<bool()>& condition, Duration timeout = kTimeout);

 private:
  io::ClientSocket& dialled(std::optional<io::ClientSocket>& socket, const std::string& endpoint);
  void receive();
  std::string encoded(const Saying& saying);
  launcher::EndpointFile endpoint_;
  io::EventLoop loop_;
  io::Transport transport_;
  io::KeyPair keys_;
  std::optional<io::ClientSocket> control_, bulk_, join_;
  std::uint64_t sequence_ = 0;
  std::deque<Heard> control_in_;
  std::deque<JoinReply> join_in_;
  std::deque<BulkEnvelope> bulk_in_;
};

// A user whose key is authorised.
io::KeyPair authorized_user(DaemonProcess& daemon, const std::string& name = "ann");
// A job that fits any node.
JobSpec small_job(const std::string& name = "");

}  // namespace lockstep::test
