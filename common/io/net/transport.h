#pragma once
// ZeroMQ sockets, always with CURVE: a ROUTER that knows the key of each sender, and a DEALER that
// knows its server's key. One ZAP handler per context accepts or refuses keys for each domain.
// Queues and messages are limited (MAXMSGSIZE, high-water marks, ROUTER_MANDATORY). The protocols
// above check liveness.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/io/event_loop.h"

namespace lockstep::io {

struct KeyPair {
  PublicKey public_key;    // z85, 40 characters
  std::string secret_key;  // z85, 40 characters
  std::string path = {};   // the file they were loaded from, for messages; "" = none
};
KeyPair generate_key_pair();
KeyPair key_pair_of(const Digest& secret);  // any 32 bytes are a secret key of CURVE
// The secret key alone, which costs a hundredth of computing both.
std::string secret_key_of(const Digest& secret);
Result<KeyPair> key_pair_with(const std::string& secret_key);  // corrupt: not a z85 key
// Reads a key file of mode 0600 ("public <z85>\nsecret <z85>\n"), or makes it atomically when it
// does not exist.
Result<KeyPair> load_or_create_key_pair(const std::string& path);

// The ZeroMQ context and its ZAP handler, served by `loop`; one per process.
class Transport {
 public:
  // Called for each CURVE handshake: returns whether this key may use this domain.
  using AllowKey = std::function<bool(const std::string& domain, const PublicKey& key)>;

  // Called for each handshake that AllowKey refused.
  using Refused = std::function<void(const std::string& domain, const PublicKey& key,
                                     const std::string& address)>;

  Transport(EventLoop& loop, AllowKey allow_key);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  void* context() const;
  void on_refused(Refused refused);

 private:
  friend class ServerSocket;
  friend class ClientSocket;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct SocketLimits {
  std::int64_t max_message_bytes = 64 << 20;
  int high_water_mark = 10'000;  // messages, each direction and peer
  // Servers: AllowKey accepts every key, so a message does not make its connection a proven one
  // (admission.h).
  bool open_to_all = false;
  // For servers: whether this key's connections have no limit in bytes (backlog.h). Empty: no
  // connection has a limit after its first message was taken.
  std::function<bool(const PublicKey& key)> trusts = {};
  // Clients: after a failed attempt they dial again when once to twice this time has passed.
  Duration redial_after = milliseconds(20);
};

// The socket of a server: ROUTER with CURVE.
class ServerSocket {
 public:
  struct Incoming {
    std::string peer;  // routing id: valid while that connection lives
    PublicKey key;     // the sender's, proven by CURVE
    std::string bytes;
    std::string address = {};  // the peer's IP address; "" = not over TCP
  };
  static Result<ServerSocket> bind(Transport& transport, const std::string& endpoint,
                                   const std::string& zap_domain, const KeyPair& keys,
                                   SocketLimits limits = {});
  ~ServerSocket();
  ServerSocket(ServerSocket&&) noexcept;
  ServerSocket& operator=(ServerSocket&&) noexcept;

  void* handle() const;          // the handle for EventLoop::watch_socket
  std::string endpoint() const;  // the endpoint, with the real port if it was bound to tcp://…:*
  std::optional<Incoming> receive();  // nullopt when nothing waits; never blocks
  // Sends a message; never blocks. Returns unavailable if the peer is gone, and resource_exhausted
  // if its queue is full: in messages, or in bytes if the peer is not trusted.
  Status send(const std::string& peer, std::string_view bytes);
  // True when the peer's connection is known to have ended; always false for trusted peers.
  bool is_gone(const std::string& peer) const;

 private:
  struct Impl;
  explicit ServerSocket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The socket of a client: DEALER with CURVE. It reconnects by itself. ZMQ_IMMEDIATE is set, so that
// nothing is queued for a dead server. When its connection breaks, libzmq also drops what had
// arrived and was not received yet, so the last answer of a server that exits at once may be lost.
// libzmq does not reconnect after our key was refused; send() and send_within() do, at most twice a
// second.
class ClientSocket {
 public:
  static Result<ClientSocket> connect(Transport& transport, const std::string& endpoint,
                                      const PublicKey& server_key, const KeyPair& keys,
                                      SocketLimits limits = {});
  ~ClientSocket();
  ClientSocket(ClientSocket&&) noexcept;
  ClientSocket& operator=(ClientSocket&&) noexcept;

  enum class Link {
    up,       // connected, and our key was accepted
    down,     // the connection broke; libzmq reconnects
    refused,  // the server refused our key; the next send reconnects
  };
  // Calls the handler on the loop at each change from now on. Once per socket; the socket must be
  // destroyed on the loop's thread, before the loop.
  Status watch_link(EventLoop& loop, std::function<void(Link)> handler);

  void* handle() const;
  std::optional<std::string> receive();
  // Sends. Returns unavailable if it is not connected (yet) or the queue is full; the caller's
  // protocol sends again.
  Status send(std::string_view bytes);
  // Sends as send() does, but waits up to `timeout` for the connection. Returns permission_denied
  // at once if the server refuses our key; else unavailable, which says whether nothing or another
  // program answers at the endpoint.
  Status send_within(std::string_view bytes, Duration timeout);

 private:
  struct Impl;
  explicit ClientSocket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::io
