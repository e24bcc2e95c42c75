#pragma once
// Unix stream sockets that carry length-prefixed frames. They are bound and connected through a
// directory's descriptor, so that long paths work. Non-blocking; made for an EventLoop.

#include <sys/socket.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"

namespace lockstep::io {

// One connection. Frames: u32 little-endian length, then that many bytes.
class FramedSocket {
 public:
  using OnFrame = std::function<void(std::string)>;
  using OnClosed = std::function<void()>;

  FramedSocket(EventLoop& loop, Fd fd, std::size_t max_frame_bytes, OnFrame on_frame,
               OnClosed on_closed);
  ~FramedSocket();
  FramedSocket(const FramedSocket&) = delete;
  FramedSocket& operator=(const FramedSocket&) = delete;
  void send(std::string_view frame);  // queues; over 256 MiB of backlog it closes the connection
  std::size_t backlog_bytes() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Makes a frame as FramedSocket writes it, for a writer without a loop.
std::string framed(std::string_view frame);

// Listens on a socket. Its file appears under `name` only when it accepts connections; it replaces
// one that an earlier listener left. `type`: SOCK_STREAM, or SOCK_SEQPACKET for another protocol.
Result<Fd> listen_unix(const std::string& directory, const std::string& name, int mode = 0600,
                       int type = SOCK_STREAM);
Result<Fd> connect_unix(const std::string& directory, const std::string& name);
Result<Fd> accept_unix(int listener);  // the accepted socket is non-blocking and close-on-exec

}  // namespace lockstep::io
