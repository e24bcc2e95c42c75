#include "common/io/net/transport.h"

#include <zmq.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <vector>

#include "common/io/net/admission.h"
#include "common/io/net/backlog.h"
#include "common/io/net/transport_internal.h"

namespace lockstep::io {
namespace {

// How long last replies may still be sent after a server closes.
constexpr int kServerLingerMs = 1000;
constexpr int kListenBacklog = 4096;  // the default of net.core.somaxconn
// The most messages of one peer that wait for the loop, which takes fewer per turn. A peer that
// sends faster waits in its own queue.
constexpr int kMostReceived = 512;
// the bytes that CURVE and ZMTP add to a message, at least and at most (RFC 23 and 26)
constexpr std::int64_t kLeastFraming = 33 + 2, kMostFraming = 33 + 9;
// The number of connections above which ended ones are removed from the list.
constexpr std::size_t kMostConnections = 4'096;
// Frames of a ZAP request (RFC 27), CURVE: version … credentials.
constexpr std::size_t kZapFrames = 7;

// The port of a TCP endpoint; nullopt: the endpoint is not TCP.
std::optional<std::uint16_t> tcp_port(const std::string& endpoint) {
  std::uint16_t port = 0;
  if (!endpoint.starts_with("tcp://")) return std::nullopt;
  const char* const end = endpoint.data() + endpoint.size();
  const auto read = std::from_chars(endpoint.data() + endpoint.rfind(':') + 1, end, port);
  return read.ptr == end && port != 0 ? std::optional(port) : std::nullopt;
}

}  // namespace

// ---- context and ZAP ---------------------------------------------------------------------------

// Answers requests of ZAP (RFC 27). Each request is one whole message. A malformed one is refused,
// and always answered.
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
      allowed = allow_key(frames[2], PublicKey(key));
      if (!allowed && refused) refused(frames[2], PublicKey(key), frames[3]);
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

Transport::Transport(EventLoop& loop, AllowKey allow_key)
    : impl_(std::make_unique<Impl>(loop, std::move(allow_key))) {
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
void Transport::on_refused(Refused refused) { impl_->refused = std::move(refused); }

// ---- server ------------------------------------------------------------------------------------

struct ServerSocket::Impl {
  Impl(void* context, std::atomic<int>& open) : socket(context, ZMQ_ROUTER, open) {}
  Socket socket;
  std::string endpoint;
  std::shared_ptr<Admission> admission;  // null: the socket is not TCP
  std::optional<ListenerGuard> guard;
  bool open_to_all = false;
  std::function<bool(const PublicKey&)> trusts;

  // The connection of each peer that has sent something, to count the bytes that are sent to it.
  struct Connection {
    int fd = -1;
    std::uint64_t life = 0;
    bool is_there() const { return process_backlog().life(fd) == life; }
  };
  void heard(const std::string& peer, const PublicKey& key, int fd, std::size_t bytes);
  const Connection* connection_of(const std::string& peer) const {
    const auto found = connections.find(peer);
    return found != connections.end() && found->second.is_there() ? &found->second : nullptr;
  }
  std::unordered_map<std::string, Connection> connections;
  std::size_t sweep_at = kMostConnections;
};

void ServerSocket::Impl::heard(const std::string& peer, const PublicKey& key, int fd,
                               std::size_t bytes) {
  Backlog& backlog = process_backlog();
  backlog.took(fd, static_cast<std::int64_t>(bytes) + kMostFraming);
  if (!trusts || trusts(key)) return backlog.trust(fd);
  const std::uint64_t life = backlog.life(fd);
  if (life == 0 || !connections.try_emplace(peer, Connection{fd, life}).second) return;
  if (connections.size() < sweep_at) return;
  std::erase_if(connections, [](const auto& one) { return !one.second.is_there(); });
  sweep_at = std::max(kMostConnections, 2 * connections.size());
}

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
  set_option(raw, ZMQ_RCVHWM, std::min(limits.high_water_mark, kMostReceived));
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
  impl->open_to_all = limits.open_to_all;
  impl->trusts = std::move(limits.trusts);
  if (const auto port = tcp_port(impl->endpoint)) {
    impl->admission = transport.impl_->admission;
    impl->guard.emplace(*port, impl->admission);
  }
  return ServerSocket(std::move(impl));
}

void* ServerSocket::handle() const { return impl_->socket.get(); }
std::string ServerSocket::endpoint() const { return impl_->endpoint; }

std::optional<ServerSocket::Incoming> ServerSocket::receive() {
  void* raw = impl_->socket.get();
  for (;;) {
    Frame peer;
    if (!receive_frame(raw, peer)) {
      process_backlog().all_taken();
      return std::nullopt;
    }
    Frame body;
    if (!peer.more() || !receive_frame(raw, body)) continue;
    if (body.more()) {  // our programs send one frame only
      drop_rest(raw, body);
      continue;
    }
    const char* key = zmq_msg_gets(&body.message, "User-Id");
    if (!key || *key == '\0') continue;
    const char* from = zmq_msg_gets(&body.message, "Peer-Address");
    const std::string address = from ? from : "";
    const int fd = zmq_msg_get(&body.message, ZMQ_SRCFD);
    if (impl_->admission && !impl_->open_to_all) impl_->admission->proven(fd, address);
    Incoming incoming{peer.text(), PublicKey(key), body.text(), address};
    impl_->heard(incoming.peer, incoming.key, fd, incoming.bytes.size());
    return incoming;
  }
}

Status ServerSocket::send(const std::string& peer, std::string_view bytes) {
  void* raw = impl_->socket.get();
  const auto size = static_cast<std::int64_t>(bytes.size()) + kLeastFraming;
  const Impl::Connection* to = impl_->connection_of(peer);
  const bool fits = to == nullptr || process_backlog().may_give(to->fd, size);
  const int error = fits ? send_frame(raw, peer, ZMQ_SNDMORE | ZMQ_DONTWAIT) : EAGAIN;
  if (error == EAGAIN) {
    return make_error(ErrorCode::resource_exhausted,
                      "send to a peer of " + impl_->endpoint + ": its queue is full");
  }
  if (error != 0) {
    impl_->connections.erase(peer);
    return make_error(ErrorCode::unavailable,
                      "send to a peer of " + impl_->endpoint + ": it is gone");
  }
  if (to != nullptr) process_backlog().gave(to->fd, size);
  // The queue took the first frame, so it takes the second. If the peer has left meanwhile, nothing
  // happens.
  send_frame(raw, bytes, ZMQ_DONTWAIT);
  return {};
}

bool ServerSocket::is_gone(const std::string& peer) const {
  const auto found = impl_->connections.find(peer);
  return found != impl_->connections.end() && !found->second.is_there();
}

}  // namespace lockstep::io
