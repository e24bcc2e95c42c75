#pragma once
// The event loop of each program. It waits for ZeroMQ sockets, file descriptors, signals and posted
// work, and calls one handler at a time on the loop's thread. It owns no sockets and makes no
// decisions.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::io {

class EventLoop {
 public:
  using Handler = std::function<void()>;

  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  enum class Interest { read, write };
  // Watches a descriptor, level-triggered. A second watch of the same (fd, interest) replaces the
  // handler. Handlers may watch and unwatch anything, themselves included.
  void watch(int fd, Interest interest, Handler handler);
  void unwatch(int fd, Interest interest);
  // Watches a `zmq_socket`, a void* of libzmq; the handler is called while it has something to
  // receive.
  void watch_socket(void* zmq_socket, Handler handler);
  void unwatch_socket(void* zmq_socket);
  // Blocks the signals in this thread (call before any thread starts) and calls the handler on the
  // loop.
  Status watch_signals(const std::vector<int>& signals, std::function<void(int)> handler);

  // Runs `work` on the loop's thread, in order. From any thread.
  void post(Handler work);

  // Runs the loop once: waits until something is ready or `timeout` has passed, then runs all
  // handlers that are ready. With Duration::max() it waits without limit.
  void turn(Duration timeout);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::io
