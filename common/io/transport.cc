#include "common/io/transport.h"

#include <zmq.h>

#include <fmt/format.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "common/base/check.h"
#include "common/io/curve_keys.h"

namespace lockstep::io {
namespace {

constexpr int kServerLingerMs = 1000;  // the last replies still leave when a server closes
constexpr int kReconnectMs = 20;
constexpr int kReconnectMaxMs = 500;
constexpr int kHandshakeMs = 10'000;
constexpr int kTcpUnackedMs = 30'000;  // a peer that acknowledges nothing for so long is cut off
constexpr int kListenBacklog = 1024;
constexpr std::size_t kZapFrames = 7;  // RFC 27, CURVE: version … credentials

void set_option(void* socket, int option, int value) {
  CHECK(zmq_setsockopt(socket, option, &value, sizeof value) == 0, "libzmq refused an option");
}

void set_option(void* socket, int option, const std::string& text) {
  CHECK(zmq_setsockopt(socket, option, text.c_str(), text.size()) == 0,
        "libzmq refused a text option");
}

void set_common_options(void* socket, const std::string& endpoint, const SocketLimits& limits) {
  CHECK(zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &limits.max_message_bytes,
                       sizeof limits.max_message_bytes) == 0,
        "libzmq refused MAXMSGSIZE");
  set_option(socket, ZMQ_SNDHWM, limits.high_water_mark);
  set_option(socket, ZMQ_RCVHWM, limits.high_water_mark);
  set_option(socket, ZMQ_HANDSHAKE_IVL, kHandshakeMs);
  set_option(socket, ZMQ_TCP_MAXRT, kTcpUnackedMs);
  set_option(socket, ZMQ_TCP_KEEPALIVE, 1);
  set_option(socket, ZMQ_TCP_KEEPALIVE_IDLE, 30);
  set_option(socket, ZMQ_TCP_KEEPALIVE_INTVL, 10);
  set_option(socket, ZMQ_TCP_KEEPALIVE_CNT, 3);
  if (endpoint.find('[') != std::string::npos) set_option(socket, ZMQ_IPV6, 1);
}

Error zmq_error(const std::string& what) {
  const int number = zmq_errno();
  Error error = make_error(ErrorCode::io, what + ": " + zmq_strerror(number));
  if (number == EADDRINUSE) {
    error.code = ErrorCode::conflict;
    error.message += "; another program listens there: stop it or choose another port";
  }
  if (number == EINVAL || number == EPROTONOSUPPORT || number == ENODEV) {
    error.code = ErrorCode::invalid_argument;
    error.message += "; an endpoint looks like tcp://HOST:PORT or ipc://PATH";
  }
  return error;
}

// One frame; closes itself.
struct Frame {
  Frame() { zmq_msg_init(&message); }
  ~Frame() { zmq_msg_close(&message); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  std::string text() {
    return {static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message)};
  }
  bool more() { return zmq_msg_more(&message) != 0; }
  zmq_msg_t message;
};

// False when nothing waits. A signal may interrupt even a call that does not block.
bool receive_frame(void* socket, Frame& frame) {
  for (;;) {
    if (zmq_msg_recv(&frame.message, socket, ZMQ_DONTWAIT) >= 0) return true;
    if (zmq_errno() != EINTR) return false;
  }
}

int send_frame(void* socket, std::string_view bytes, int flags) {
  for (;;) {
    if (zmq_send(socket, bytes.data(), bytes.size(), flags) >= 0) return 0;
    if (zmq_errno() != EINTR) return zmq_errno();
  }
}

void drop_rest(void* socket, Frame& frame) {
  while (frame.more() && receive_frame(socket, frame)) {
  }
}

// A ZeroMQ socket that its context waits for.
class Socket {
 public:
  Socket(void* context, int type, std::atomic<int>& open)
      : raw_(zmq_socket(context, type)), open_(&open) {
    if (raw_) ++*open_;
  }
  ~Socket() {
    if (!raw_) return;
    zmq_close(raw_);
    --*open_;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  void* get() const { return raw_; }

 private:
  void* raw_;
  std::atomic<int>* open_;
};

}  // namespace

// ---- context and ZAP ---------------------------------------------------------------------------

struct Transport::Impl {
  Impl(EventLoop& l, Gate g) : loop(l), gate(std::move(g)), context(zmq_ctx_new()) {
    CHECK(context != nullptr, "zmq_ctx_new failed: the process is out of file descriptors");
  }
  ~Impl() {
    if (zap) loop.unwatch_socket(zap->get());
    zap.reset();
    CHECK(open_sockets == 0, "a socket outlives its Transport");
    zmq_ctx_term(context);
  }
  void answer_zap();

  EventLoop& loop;
  Gate gate;
  void* context;
  std::atomic<int> open_sockets{0};
  std::unique_ptr<Socket> zap;
};

// RFC 27. Each request is one whole message; an ill-formed one is refused, never left unanswered.
void Transport::Impl::answer_zap() {
  for (;;) {
    std::vector<std::string> frames;
    Frame frame;
    if (!receive_frame(zap->get(), frame)) return;
    frames.push_back(frame.text());
    while (frame.more() && receive_frame(zap->get(), frame)) frames.push_back(frame.text());

    const bool well_formed = frames.size() == kZapFrames && frames[0] == "1.0" &&
                             frames[5] == "CURVE" && frames[6].size() == 32;
    char key[41] = {};
    bool allowed = false;
    if (well_formed) {
      zmq_z85_encode(key, reinterpret_cast<const std::uint8_t*>(frames[6].data()), 32);
      allowed = gate(frames[2], PublicKey(key));
    }
    const std::string request = frames.size() > 1 ? frames[1] : "";
    const char* code = allowed ? "200" : "400";
    const char* words = allowed ? "OK" : "this key is not known here";
    const std::array<std::string_view, 6> reply = {"1.0", request, code, words, allowed ? key : "",
                                                   ""};
    for (std::size_t i = 0; i < reply.size(); ++i) {
      send_frame(zap->get(), reply[i], i + 1 < reply.size() ? ZMQ_SNDMORE : 0);
    }
  }
}

Transport::Transport(EventLoop& loop, Gate gate)
    : impl_(std::make_unique<Impl>(loop, std::move(gate))) {
  impl_->zap = std::make_unique<Socket>(impl_->context, ZMQ_REP, impl_->open_sockets);
  void* raw = impl_->zap->get();
  CHECK(raw != nullptr, "zmq_socket failed: the process is out of file descriptors");
  set_option(raw, ZMQ_LINGER, 0);
  set_option(raw, ZMQ_SNDHWM, 0);
  set_option(raw, ZMQ_RCVHWM, 0);
  CHECK(zmq_bind(raw, "inproc://zeromq.zap.01") == 0, "the ZAP endpoint of a new context is taken");
  loop.watch_socket(raw, [impl = impl_.get()] { impl->answer_zap(); });
}

Transport::~Transport() = default;

void* Transport::context() const { return impl_->context; }

// ---- server ------------------------------------------------------------------------------------

struct ServerSocket::Impl {
  Impl(void* context, std::atomic<int>& open) : socket(context, ZMQ_ROUTER, open) {}
  Socket socket;
  std::string endpoint;
};

ServerSocket::ServerSocket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServerSocket::~ServerSocket() = default;
ServerSocket::ServerSocket(ServerSocket&&) noexcept = default;
ServerSocket& ServerSocket::operator=(ServerSocket&&) noexcept = default;

Result<ServerSocket> ServerSocket::bind(Transport& transport, const std::string& endpoint,
                                        const std::string& zap_domain, const KeyPair& keys,
                                        SocketLimits limits) {
  auto impl = std::make_unique<Impl>(transport.context(), transport.impl_->open_sockets);
  void* raw = impl->socket.get();
  if (!raw) return zmq_error("make a socket for " + endpoint);
  set_common_options(raw, endpoint, limits);
  set_option(raw, ZMQ_LINGER, kServerLingerMs);
  set_option(raw, ZMQ_BACKLOG, kListenBacklog);
  set_option(raw, ZMQ_ROUTER_MANDATORY, 1);
  set_option(raw, ZMQ_CURVE_SERVER, 1);
  set_option(raw, ZMQ_CURVE_SECRETKEY, keys.secret_key);
  set_option(raw, ZMQ_ZAP_DOMAIN, zap_domain);
  if (zmq_bind(raw, endpoint.c_str()) != 0) return zmq_error("listen on " + endpoint);
  char bound[512] = {};
  std::size_t size = sizeof bound;
  if (zmq_getsockopt(raw, ZMQ_LAST_ENDPOINT, bound, &size) != 0) {
    return zmq_error("listen on " + endpoint);
  }
  impl->endpoint = bound;
  return ServerSocket(std::move(impl));
}

void* ServerSocket::handle() const { return impl_->socket.get(); }
std::string ServerSocket::endpoint() const { return impl_->endpoint; }

std::optional<ServerSocket::Incoming> ServerSocket::receive() {
  void* raw = impl_->socket.get();
  for (;;) {
    Frame peer;
    if (!receive_frame(raw, peer)) return std::nullopt;
    Frame body;
    if (!peer.more() || !receive_frame(raw, body)) continue;
    if (body.more()) {  // none of our programs sends two frames
      drop_rest(raw, body);
      continue;
    }
    const char* key = zmq_msg_gets(&body.message, "User-Id");
    if (!key || *key == '\0') continue;
    return Incoming{peer.text(), PublicKey(key), body.text()};
  }
}

Status ServerSocket::send(const std::string& peer, std::string_view bytes) {
  void* raw = impl_->socket.get();
  const int error = send_frame(raw, peer, ZMQ_SNDMORE | ZMQ_DONTWAIT);
  if (error == EAGAIN) {
    return make_error(ErrorCode::resource_exhausted,
                      "send to a peer of " + impl_->endpoint + ": its queue is full");
  }
  if (error != 0) {
    return make_error(ErrorCode::unavailable,
                      "send to a peer of " + impl_->endpoint + ": it is gone");
  }
  // The queue took the first frame, so it takes the second; a peer that left meanwhile costs
  // nothing.
  send_frame(raw, bytes, ZMQ_DONTWAIT);
  return {};
}

// ---- client ------------------------------------------------------------------------------------

struct ClientSocket::Impl {
  Impl(void* c, std::atomic<int>& o) : context(c), open(o), socket(c, ZMQ_DEALER, o) {}
  ~Impl() {
    *alive = false;
    if (!monitor) return;
    loop->unwatch_socket(monitor->get());
    zmq_socket_monitor(socket.get(), nullptr, 0);
  }
  void on_monitor_event();
  void tell(Link now);
  bool connected() const;

  void* context;
  std::atomic<int>& open;
  Socket socket;
  std::string endpoint;
  EventLoop* loop = nullptr;
  std::unique_ptr<Socket> monitor;
  std::function<void(Link)> on_link;
  std::optional<Link> told;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

void ClientSocket::Impl::tell(Link now) {
  if (now == told) return;
  told = now;
  const auto handler = on_link;  // it may destroy the socket, and this with it
  handler(now);
}

// With IMMEDIATE, there is a queue to write to only while a connection stands.
bool ClientSocket::Impl::connected() const {
  int events = 0;
  std::size_t size = sizeof events;
  return zmq_getsockopt(socket.get(), ZMQ_EVENTS, &events, &size) == 0 &&
         (events & ZMQ_POLLOUT) != 0;
}

// A monitor's message: u16 event and u32 value, then the endpoint (zmq_socket_monitor(3)).
void ClientSocket::Impl::on_monitor_event() {
  void* const raw = monitor->get();
  Frame frame;
  if (!receive_frame(raw, frame)) return;
  const std::string head = frame.text();
  drop_rest(raw, frame);
  std::uint16_t event = 0;
  if (head.size() < sizeof event) return;
  std::memcpy(&event, head.data(), sizeof event);
  if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) return tell(Link::up);
  if (event == ZMQ_EVENT_DISCONNECTED) return tell(Link::down);
  if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) return tell(Link::refused);
}

ClientSocket::ClientSocket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClientSocket::~ClientSocket() = default;
ClientSocket::ClientSocket(ClientSocket&&) noexcept = default;
ClientSocket& ClientSocket::operator=(ClientSocket&&) noexcept = default;

Result<ClientSocket> ClientSocket::connect(Transport& transport, const std::string& endpoint,
                                           const PublicKey& server_key, const KeyPair& keys,
                                           SocketLimits limits) {
  if (!is_z85_key(server_key.value)) {
    return make_error(ErrorCode::invalid_argument,
                      "connect to " + endpoint + ": the server's key is not 40 characters of Z85");
  }
  auto impl = std::make_unique<Impl>(transport.context(), transport.impl_->open_sockets);
  void* raw = impl->socket.get();
  if (!raw) return zmq_error("make a socket for " + endpoint);
  set_common_options(raw, endpoint, limits);
  set_option(raw, ZMQ_LINGER, 0);
  set_option(raw, ZMQ_IMMEDIATE, 1);
  set_option(raw, ZMQ_RECONNECT_IVL, kReconnectMs);
  set_option(raw, ZMQ_RECONNECT_IVL_MAX, kReconnectMaxMs);
  set_option(raw, ZMQ_CURVE_SERVERKEY, server_key.value);
  set_option(raw, ZMQ_CURVE_PUBLICKEY, keys.public_key.value);
  set_option(raw, ZMQ_CURVE_SECRETKEY, keys.secret_key);
  if (zmq_connect(raw, endpoint.c_str()) != 0) return zmq_error("connect to " + endpoint);
  impl->endpoint = endpoint;
  return ClientSocket(std::move(impl));
}

Status ClientSocket::watch_link(EventLoop& loop, std::function<void(Link)> handler) {
  static std::atomic<unsigned> count{0};
  CHECK(!impl_->monitor, "watch_link is called once");
  const std::string address = fmt::format("inproc://lockstep-link-{}", ++count);
  constexpr int kEvents =
      ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
  if (zmq_socket_monitor(impl_->socket.get(), address.c_str(), kEvents) != 0) {
    return zmq_error("watch the connection to " + impl_->endpoint);
  }
  auto monitor = std::make_unique<Socket>(impl_->context, ZMQ_PAIR, impl_->open);
  if (!monitor->get() || zmq_connect(monitor->get(), address.c_str()) != 0) {
    return zmq_error("watch the connection to " + impl_->endpoint);
  }
  set_option(monitor->get(), ZMQ_LINGER, 0);
  impl_->loop = &loop;
  impl_->on_link = std::move(handler);
  impl_->monitor = std::move(monitor);
  loop.watch_socket(impl_->monitor->get(), [impl = impl_.get()] { impl->on_monitor_event(); });
  // The connection may have come up before anybody listened; then no event tells of it.
  loop.post([impl = impl_.get(), alive = impl_->alive] {
    if (*alive && !impl->told && impl->connected()) impl->tell(Link::up);
  });
  return {};
}

void* ClientSocket::handle() const { return impl_->socket.get(); }

std::optional<std::string> ClientSocket::receive() {
  void* raw = impl_->socket.get();
  for (;;) {
    Frame frame;
    if (!receive_frame(raw, frame)) return std::nullopt;
    if (!frame.more()) return frame.text();
    drop_rest(raw, frame);
  }
}

Status ClientSocket::send(std::string_view bytes) {
  if (send_frame(impl_->socket.get(), bytes, ZMQ_DONTWAIT) != 0) {
    return make_error(ErrorCode::unavailable,
                      "send to " + impl_->endpoint + ": not connected, or its queue is full");
  }
  return {};
}

Status ClientSocket::send_within(std::string_view bytes, Duration timeout) {
  void* raw = impl_->socket.get();
  const auto ms = std::chrono::ceil<milliseconds>(timeout).count();
  set_option(raw, ZMQ_SNDTIMEO, static_cast<int>(ms < 0 ? 0 : ms));
  const int error = send_frame(raw, bytes, 0);
  set_option(raw, ZMQ_SNDTIMEO, -1);
  if (error == 0) return {};
  return make_error(
      ErrorCode::unavailable,
      fmt::format("{} did not answer within {}; is it running, reachable, and does it "
                  "know this key?",
                  impl_->endpoint, format_duration(timeout)));
}

}  // namespace lockstep::io
