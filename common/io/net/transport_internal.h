#pragma once
// Code shared by the sockets of transport.h: frames, options, errors, and the context. Private to
// common/io/net.

#include <zmq.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/check.h"
#include "common/io/net/admission.h"
#include "common/io/net/transport.h"

namespace lockstep::io {

// A launcher that thousands of nodes dial at once takes seconds to answer each.
inline constexpr int kHandshakeMs = 30'000;
// A peer that acknowledges nothing for this long is cut off.
inline constexpr int kTcpUnackedMs = 30'000;

inline void set_option(void* socket, int option, int value) {
  CHECK(zmq_setsockopt(socket, option, &value, sizeof value) == 0, "libzmq refused an option");
}

inline void set_option(void* socket, int option, const std::string& text) {
  CHECK(zmq_setsockopt(socket, option, text.c_str(), text.size()) == 0,
        "libzmq refused a text option");
}

inline void set_common_options(void* socket, const std::string& endpoint,
                               const SocketLimits& limits) {
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

inline Error zmq_error(const std::string& what) {
  const int number = zmq_errno();
  Error error = make_error(ErrorCode::io, what + ": " + zmq_strerror(number));
  if (number == EADDRINUSE) {
    error.code = ErrorCode::conflict;
    error.message += "; another program listens there: stop it or choose another port";
  }
  if (number == ENODEV) {
    error.code = ErrorCode::invalid_argument;
    error.message += " has this name or address";
  }
  if (number == EINVAL || number == EPROTONOSUPPORT) {
    error.code = ErrorCode::invalid_argument;
    error.message += "; an endpoint looks like tcp://HOST:PORT or ipc://PATH";
  }
  return error;
}

// One frame, which closes itself.
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

// Receives a frame. False: nothing waits. A signal may interrupt even a call that does not block.
inline bool receive_frame(void* socket, Frame& frame) {
  for (;;) {
    if (zmq_msg_recv(&frame.message, socket, ZMQ_DONTWAIT) >= 0) return true;
    if (zmq_errno() != EINTR) return false;
  }
}

inline int send_frame(void* socket, std::string_view bytes, int flags) {
  for (;;) {
    if (zmq_send(socket, bytes.data(), bytes.size(), flags) >= 0) return 0;
    if (zmq_errno() != EINTR) return zmq_errno();
  }
}

inline void drop_rest(void* socket, Frame& frame) {
  while (frame.more() && receive_frame(socket, frame)) {
  }
}

// Owns a ZeroMQ socket and counts it in `open`, because the context can end only after its sockets.
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

struct Transport::Impl {
  Impl(EventLoop& l, AllowKey allow)
      : loop(l), allow_key(std::move(allow)), context(zmq_ctx_new()) {
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
  AllowKey allow_key;
  Refused refused;
  void* context;
  std::atomic<int> open_sockets{0};
  // The limits on connections, shared by all servers of this transport.
  std::shared_ptr<Admission> admission = make_admission();
  std::unique_ptr<Socket> zap;
};

}  // namespace lockstep::io
