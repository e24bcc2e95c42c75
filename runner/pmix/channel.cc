#include "runner/pmix/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace lockstep::pmix {
namespace {

constexpr int kBadOrder = 125;

}  // namespace

std::string Channel::read(std::size_t bytes) const {
  std::string text(bytes, '\0');
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t got = ::recv(fd_, text.data() + at, bytes - at, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ::_exit(0);
    at += static_cast<std::size_t>(got);
  }
  return text;
}

Order Channel::next() {
  const std::string header = read(kHeaderBytes);
  std::uint32_t size = 0;
  for (std::size_t i = kHeaderBytes; i-- > 0;)
    size = size << 8 | static_cast<std::uint8_t>(header[i]);
  auto order = size <= kMaxOrderBytes ? decode_order(read(size))
                                      : make_error(ErrorCode::corrupt, "an order is too long");
  if (order) return *std::move(order);
  std::fprintf(stderr, "%s\n", order.error().message.c_str());
  ::_exit(kBadOrder);
}

void Channel::send(const Report& report) {
  const std::string body = encode(report);
  std::string frame;
  for (std::size_t i = 0; i < kHeaderBytes; ++i)
    frame.push_back(static_cast<char>(body.size() >> (8 * i)));
  frame += body;
  const std::lock_guard lock(mutex_);
  for (std::size_t at = 0; at < frame.size();) {
    const ssize_t sent = ::send(fd_, frame.data() + at, frame.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) ::_exit(0);
    at += static_cast<std::size_t>(sent);
  }
}

}  // namespace lockstep::pmix
