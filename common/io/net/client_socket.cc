#include <zmq.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "common/io/net/curve_keys.h"
#include "common/io/net/transport_internal.h"

namespace lockstep::io {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr int kReconnectMaxMs = 500;  // the longest interval; intervals double with each attempt
constexpr Duration kRedialRefusedAfter = milliseconds(500);

SteadyTime steady_now() { return std::chrono::steady_clock::now(); }

// The last result of dialling.
enum class Dial {
  no_answer,     // nothing has come back yet
  nobody,        // the connection was refused: no program listens
  silent,        // connected, but the handshake has not ended
  wrong_server,  // connected, but the handshake failed: another key, or not a launcher
  refused,       // the server proved its key, and refused ours
  up,
};

}  // namespace

struct ClientSocket::Impl {
  Impl(void* c, std::atomic<int>& open)
      : context(c), socket(c, ZMQ_DEALER, open), monitor(c, ZMQ_PAIR, open) {}
  ~Impl() {
    *alive = false;
    if (loop) loop->unwatch_socket(monitor.get());
    if (socket.get()) zmq_socket_monitor(socket.get(), nullptr, 0);
  }
  Status watch_dialling();
  std::optional<Link> next_event(bool* any);
  void take_events();
  void on_monitor_event();
  void tell(Link now);
  bool connected() const;
  void redial_if_refused();
  Error not_sent(Duration timeout) const;

  void* context;
  Socket socket;
  Socket monitor;
  std::string endpoint;
  std::string key_path;
  Dial dial = Dial::no_answer;
  SteadyTime dialled = steady_now();
  EventLoop* loop = nullptr;
  std::function<void(Link)> on_link;
  std::optional<Link> told;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

void ClientSocket::Impl::tell(Link now) {
  if (!on_link || now == told) return;
  told = now;
  const auto handler = on_link;  // the handler may destroy the socket, and this object with it
  handler(now);
}

// Whether there is a connection: with ZMQ_IMMEDIATE, messages can be queued only then.
bool ClientSocket::Impl::connected() const {
  int events = 0;
  std::size_t size = sizeof events;
  return zmq_getsockopt(socket.get(), ZMQ_EVENTS, &events, &size) == 0 &&
         (events & ZMQ_POLLOUT) != 0;
}

Status ClientSocket::Impl::watch_dialling() {
  static std::atomic<unsigned> count{0};
  const std::string address = fmt::format("inproc://lockstep-link-{}", ++count);
  constexpr int kEvents = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_DISCONNECTED |
                          ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                          ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
  set_option(monitor.get(), ZMQ_LINGER, 0);
  // There is no limit: with one, libzmq's own thread would wait for a full queue.
  set_option(monitor.get(), ZMQ_RCVHWM, 0);
  if (zmq_socket_monitor(socket.get(), address.c_str(), kEvents) != 0 ||
      zmq_connect(monitor.get(), address.c_str()) != 0) {
    return zmq_error("watch the connection to " + endpoint);
  }
  return {};
}

// Takes a monitor's message: a u16 event and a u32 value, then the endpoint
// (zmq_socket_monitor(3)). `any` becomes false if no message waits.
std::optional<ClientSocket::Link> ClientSocket::Impl::next_event(bool* any) {
  Frame frame;
  *any = receive_frame(monitor.get(), frame);
  if (!*any) return std::nullopt;
  const std::string head = frame.text();
  drop_rest(monitor.get(), frame);
  std::uint16_t event = 0;
  if (head.size() < sizeof event) return std::nullopt;
  std::memcpy(&event, head.data(), sizeof event);
  switch (event) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: dial = Dial::up; return Link::up;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: dial = Dial::refused; return Link::refused;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
      if (dial != Dial::refused) dial = Dial::wrong_server;
      return std::nullopt;
    case ZMQ_EVENT_CONNECTED:
      if (dial != Dial::wrong_server) dial = Dial::silent;
      return std::nullopt;
    case ZMQ_EVENT_CLOSED: dial = Dial::nobody; return std::nullopt;
    case ZMQ_EVENT_DISCONNECTED:
      if (dial == Dial::refused) return std::nullopt;
      if (dial == Dial::up) dial = Dial::no_answer;
      return Link::down;
    default: return std::nullopt;
  }
}

void ClientSocket::Impl::on_monitor_event() {
  bool any = false;
  const auto link = next_event(&any);
  if (link) tell(*link);
}

// Takes events; called for sends between two turns of the loop. A watcher of the link is called in
// the next turn.
void ClientSocket::Impl::take_events() {
  for (bool any = true; any;) {
    const auto link = next_event(&any);
    if (!link || !loop) continue;
    loop->post([this, link = *link, still = alive] {
      if (*still) tell(link);
    });
  }
}

void ClientSocket::Impl::redial_if_refused() {
  if (dial != Dial::refused || steady_now() - dialled < kRedialRefusedAfter) return;
  zmq_disconnect(socket.get(), endpoint.c_str());
  zmq_connect(socket.get(), endpoint.c_str());
  dialled = steady_now();
  dial = Dial::no_answer;
}

Error ClientSocket::Impl::not_sent(Duration timeout) const {
  const std::string within = format_duration(timeout);
  switch (dial) {
    case Dial::refused:
      return make_error(ErrorCode::permission_denied,
                        fmt::format("the launcher at {} refused this key{}", endpoint,
                                    key_path.empty() ? "" : " (" + key_path + ")"));
    case Dial::wrong_server:
      return make_error(ErrorCode::unavailable,
                        fmt::format("the program that listens at {} does not have the launcher's "
                                    "key that we know: it is another launcher or another program; "
                                    "use the endpoint or token of the launcher that runs now",
                                    endpoint));
    case Dial::nobody:
      return make_error(ErrorCode::unavailable,
                        fmt::format("nobody listened at {} within {}; is the launcher running?",
                                    endpoint, within));
    case Dial::silent:
      return make_error(
          ErrorCode::unavailable,
          fmt::format("{} accepted the connection but did not answer within {}; the launcher is "
                      "stopped or overloaded, or another program listens there",
                      endpoint, within));
    case Dial::up:
      return make_error(ErrorCode::unavailable,
                        fmt::format("the launcher at {} is connected but took no request within "
                                    "{}; it is overloaded: try again later",
                                    endpoint, within));
    case Dial::no_answer: break;
  }
  return make_error(
      ErrorCode::unavailable,
      fmt::format("the launcher at {} did not answer within {}: nothing came back, so its machine "
                  "is off or overloaded, or a firewall drops our packets; check that lockstepd "
                  "runs there, and let firewalls pass the launcher's port and the next two",
                  endpoint, within));
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
  if (!raw || !impl->monitor.get()) return zmq_error("make a socket for " + endpoint);
  impl->endpoint = endpoint;
  impl->key_path = keys.path;
  set_common_options(raw, endpoint, limits);
  set_option(raw, ZMQ_LINGER, 0);
  set_option(raw, ZMQ_IMMEDIATE, 1);
  const auto redial_ms =
      static_cast<int>(std::chrono::ceil<milliseconds>(limits.redial_after).count());
  set_option(raw, ZMQ_RECONNECT_IVL, redial_ms);
  set_option(raw, ZMQ_RECONNECT_IVL_MAX, std::max(kReconnectMaxMs, redial_ms));
  set_option(raw, ZMQ_CURVE_SERVERKEY, server_key.value);
  set_option(raw, ZMQ_CURVE_PUBLICKEY, keys.public_key.value);
  set_option(raw, ZMQ_CURVE_SECRETKEY, keys.secret_key);
  TRY(impl->watch_dialling());
  if (zmq_connect(raw, endpoint.c_str()) != 0) return zmq_error("connect to " + endpoint);
  return ClientSocket(std::move(impl));
}

Status ClientSocket::watch_link(EventLoop& loop, std::function<void(Link)> handler) {
  CHECK(!impl_->loop, "watch_link is called once");
  impl_->loop = &loop;
  impl_->on_link = std::move(handler);
  loop.watch_socket(impl_->monitor.get(), [impl = impl_.get()] { impl->on_monitor_event(); });
  // A send may have consumed the event about the connection.
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
  if (send_frame(impl_->socket.get(), bytes, ZMQ_DONTWAIT) == 0) return {};
  impl_->take_events();
  impl_->redial_if_refused();
  return make_error(ErrorCode::unavailable,
                    "send to " + impl_->endpoint + ": not connected, or its queue is full");
}

Status ClientSocket::send_within(std::string_view bytes, Duration timeout) {
  const SteadyTime end = steady_now() + std::max(timeout, Duration::zero());
  impl_->take_events();
  impl_->redial_if_refused();
  while (send_frame(impl_->socket.get(), bytes, ZMQ_DONTWAIT) != 0) {
    impl_->take_events();
    const SteadyTime now = steady_now();
    if (impl_->dial == Dial::refused || now >= end) return impl_->not_sent(timeout);
    std::array<zmq_pollitem_t, 2> items = {
        {{impl_->socket.get(), 0, ZMQ_POLLOUT, 0}, {impl_->monitor.get(), 0, ZMQ_POLLIN, 0}}};
    zmq_poll(items.data(), static_cast<int>(items.size()),
             static_cast<long>(std::chrono::ceil<milliseconds>(end - now).count()));
  }
  return {};
}

}  // namespace lockstep::io
