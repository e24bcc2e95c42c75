#include "common/io/net/framed_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>

namespace lockstep::io {
namespace {

constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kMaxBacklogBytes = 256u << 20;
constexpr int kListenBacklog = 16;

std::uint32_t decode_length(const char* bytes) {
  std::uint32_t length = 0;
  for (int i = 3; i >= 0; --i) length = length << 8 | static_cast<std::uint8_t>(bytes[i]);
  return length;
}

}  // namespace

std::string framed(std::string_view frame) {
  std::string bytes;
  bytes.reserve(kHeaderBytes + frame.size());
  const auto length = static_cast<std::uint32_t>(frame.size());
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(length >> (8 * i)));
  bytes.append(frame);
  return bytes;
}

struct FramedSocket::Impl : std::enable_shared_from_this<FramedSocket::Impl> {
  Impl(EventLoop& l, Fd f, std::size_t max, OnFrame frame, OnClosed closed)
      : loop(l),
        fd(std::move(f)),
        max_frame_bytes(max),
        on_frame(std::move(frame)),
        on_closed(std::move(closed)) {}

  void start();
  void stop();        // No handler is called after stop().
  void close_soon();  // calls on_closed from the loop, never from inside the owner's call
  void on_readable();
  bool deliver_frames();
  void flush();

  EventLoop& loop;
  Fd fd;
  std::size_t max_frame_bytes;
  OnFrame on_frame;
  OnClosed on_closed;
  std::string input;
  std::deque<std::string> output;
  std::size_t output_offset = 0;  // bytes of output.front() that are written
  std::size_t output_bytes = 0;   // bytes that are not written yet
  bool writing = false;           // the loop waits until the socket takes more
};

void FramedSocket::Impl::start() {
  // The loop has only a weak pointer: the owner decides how long this object lives.
  loop.watch(fd.get(), EventLoop::Interest::read, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->on_readable();
  });
}

void FramedSocket::Impl::stop() {
  if (!fd) return;
  loop.unwatch(fd.get(), EventLoop::Interest::read);
  if (writing) loop.unwatch(fd.get(), EventLoop::Interest::write);
  fd.reset();
  output.clear();
  output_bytes = 0;
}

void FramedSocket::Impl::close_soon() {
  stop();
  loop.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      const OnClosed callback = std::move(self->on_closed);
      self->on_closed = nullptr;
      if (callback) callback();
    }
  });
}

void FramedSocket::Impl::on_readable() {
  // The object stays alive, since on_frame may destroy its owner.
  const auto alive = shared_from_this();
  char buffer[65536];
  bool closed = false;
  for (int round = 0; round < 16 && fd; ++round) {
    const ssize_t got = ::recv(fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got > 0) {
      input.append(buffer, static_cast<std::size_t>(got));
      if (static_cast<std::size_t>(got) < sizeof buffer) break;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    closed = got == 0 || errno != EAGAIN;
    break;
  }
  if (!deliver_frames()) return;
  if (closed && fd) close_soon();
}

// Delivers the frames that have arrived. False: the connection is closed or destroyed afterwards.
bool FramedSocket::Impl::deliver_frames() {
  std::size_t at = 0;
  while (fd && input.size() - at >= kHeaderBytes) {
    const std::size_t length = decode_length(input.data() + at);
    if (length > max_frame_bytes) {
      close_soon();
      return false;
    }
    if (input.size() - at - kHeaderBytes < length) break;
    std::string frame = input.substr(at + kHeaderBytes, length);
    at += kHeaderBytes + length;
    on_frame(std::move(frame));
  }
  input.erase(0, at);
  return static_cast<bool>(fd);
}

void FramedSocket::Impl::flush() {
  while (!output.empty()) {
    const std::string& front = output.front();
    const ssize_t done = ::send(fd.get(), front.data() + output_offset,
                                front.size() - output_offset, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno != EAGAIN) return close_soon();
    if (done < 0) break;
    output_bytes -= static_cast<std::size_t>(done);
    output_offset += static_cast<std::size_t>(done);
    if (output_offset == front.size()) {
      output.pop_front();
      output_offset = 0;
    }
  }
  const bool wanted = !output.empty();
  if (wanted && !writing) {
    loop.watch(fd.get(), EventLoop::Interest::write, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->flush();
    });
  } else if (!wanted && writing) {
    loop.unwatch(fd.get(), EventLoop::Interest::write);
  }
  writing = wanted;
}

FramedSocket::FramedSocket(EventLoop& loop, Fd fd, std::size_t max_frame_bytes, OnFrame on_frame,
                           OnClosed on_closed)
    : impl_(std::make_shared<Impl>(loop, std::move(fd), max_frame_bytes, std::move(on_frame),
                                   std::move(on_closed))) {
  impl_->start();
}

FramedSocket::~FramedSocket() {
  impl_->stop();
  impl_->on_closed = nullptr;
}

void FramedSocket::send(std::string_view frame) {
  if (!impl_->fd) return;
  if (impl_->output_bytes + frame.size() > kMaxBacklogBytes) return impl_->close_soon();
  impl_->output.push_back(framed(frame));
  impl_->output_bytes += kHeaderBytes + frame.size();
  if (!impl_->writing) impl_->flush();
}

std::size_t FramedSocket::backlog_bytes() const { return impl_->output_bytes; }

namespace {

// "/proc/self/fd/N/name" names a file in the directory of descriptor N, and stays short if the real
// path is long.
struct ShortAddress {
  Fd directory;
  sockaddr_un address{};
};

Result<ShortAddress> short_address(const std::string& directory, const std::string& name) {
  ShortAddress result;
  TRY_ASSIGN(result.directory, open_file(directory, O_RDONLY | O_DIRECTORY));
  const std::string path = "/proc/self/fd/" + std::to_string(result.directory.get()) + "/" + name;
  if (path.size() >= sizeof result.address.sun_path) {
    return make_error(ErrorCode::invalid_argument,
                      "unix socket " + directory + "/" + name + ": the name is too long");
  }
  result.address.sun_family = AF_UNIX;
  std::memcpy(result.address.sun_path, path.c_str(), path.size() + 1);
  return result;
}

Result<Fd> new_socket(int type) {
  Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno_error(errno, "make a unix socket");
  return fd;
}

}  // namespace

Result<Fd> listen_unix(const std::string& directory, const std::string& name, int mode, int type) {
  const std::string shown = directory + "/" + name;
  // The socket is made under another name and renamed, so that it can be connected to as soon as
  // the name is there, with the right mode.
  const std::string beside = name + ".new";
  TRY_ASSIGN(const ShortAddress short_form, short_address(directory, beside));
  TRY_ASSIGN(Fd fd, new_socket(type));
  const auto* address = reinterpret_cast<const sockaddr*>(&short_form.address);
  const int in = short_form.directory.get();
  ::unlinkat(in, beside.c_str(), 0);
  if (::bind(fd.get(), address, sizeof short_form.address) != 0) {
    return errno_error(errno, "bind unix socket " + shown);
  }
  if (::fchmodat(in, beside.c_str(), static_cast<mode_t>(mode), 0) != 0) {
    return errno_error(errno, "chmod unix socket " + shown);
  }
  if (::listen(fd.get(), kListenBacklog) != 0) {
    return errno_error(errno, "listen on unix socket " + shown);
  }
  if (::renameat(in, beside.c_str(), in, name.c_str()) != 0) {
    return errno_error(errno, "rename unix socket " + shown);
  }
  return fd;
}

Result<Fd> connect_unix(const std::string& directory, const std::string& name) {
  TRY_ASSIGN(const ShortAddress short_form, short_address(directory, name));
  TRY_ASSIGN(Fd fd, new_socket(SOCK_STREAM));
  const auto* address = reinterpret_cast<const sockaddr*>(&short_form.address);
  if (::connect(fd.get(), address, sizeof short_form.address) != 0) {
    Error error = errno_error(errno, "connect to unix socket " + directory + "/" + name);
    if (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN) {
      error.code = ErrorCode::unavailable;
    }
    return error;
  }
  return fd;
}

Result<Fd> accept_unix(int listener) {
  for (;;) {
    Fd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) return fd;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    Error error = errno_error(errno, "accept on a unix socket");
    if (errno == EAGAIN) error.code = ErrorCode::unavailable;
    return error;
  }
}

}  // namespace lockstep::io
