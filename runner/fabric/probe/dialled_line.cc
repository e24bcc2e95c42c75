#include "runner/fabric/probe/dialled_line.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace lockstep::runner {
namespace {

constexpr std::uint32_t kWaitsToRead = EPOLLIN, kWaitsForBoth = EPOLLIN | EPOLLOUT;
constexpr std::uint32_t kHasEnded = EPOLLERR | EPOLLHUP;

}  // namespace

ProbeLine::ProbeLine(SocketSet& sockets, io::Clock& clock, std::uint64_t id, const sockaddr_in& to,
                     PathTest test)
    : sockets_(sockets), clock_(clock), id_(id), test_(std::move(test)) {
  int error = 0;
  fd_ = dial(to, &error);
  if (!fd_) {
    is_without_socket_ = true;
    test_.failed(error);
    return;
  }
  source_ = address_of_socket(fd_.get());
  send_segments_at_once(fd_.get());
  if (error != 0 && error != EINPROGRESS) {
    test_.failed(error);
    fd_.reset();
    return;
  }
  sockets_.watch(fd_.get(), id_, kWaitsForBoth);
}

void ProbeLine::look(std::uint32_t events) {
  if (!fd_) return;
  if (is_dialling_) finish_dialling(events);
  if (is_dialling_) return;
  if ((events & (kWaitsToRead | kHasEnded)) != 0) receive();
  move();
}

void ProbeLine::finish_dialling(std::uint32_t events) {
  if ((events & (kWaitsForBoth | kHasEnded)) == 0) return;
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  is_dialling_ = false;
  if (error == 0)
    test_.connected(clock_.now());
  else
    test_.failed(error);
}

void ProbeLine::receive() {
  std::array<char, 4'096> piece;
  while (fd_ && !test_.is_over()) {
    const ssize_t got = ::recv(fd_.get(), piece.data(), piece.size(), 0);
    if (got > 0) {
      test_.received(clock_.now(), {piece.data(), static_cast<std::size_t>(got)});
      move();  // sent at once, since the round trip is being measured
      continue;
    }
    if (got == 0) test_.closed();
    if (got < 0 && errno != EAGAIN && errno != EINTR) test_.failed(errno);
    return;
  }
}

// Sends as much as the socket takes, and notes when everything is sent.
void ProbeLine::move() {
  if (!fd_) return;
  while (!test_.is_over() && !test_.to_send().empty()) {
    const std::string_view text = test_.to_send();
    const ssize_t sent = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;
    test_.sent(static_cast<std::size_t>(sent));
  }
  if (test_.is_over()) {
    overhead_ = overhead_of(fd_.get());
    fd_.reset();
    return;
  }
  const bool owes = !test_.to_send().empty();
  if (owes == std::exchange(waits_to_write_, owes)) return;
  sockets_.watch(fd_.get(), id_, owes ? kWaitsForBoth : kWaitsToRead);
}

void ProbeLine::expire(Instant now) {
  if (test_.is_over()) return;
  test_.expire(now);
  if (test_.is_over()) move();
}

}  // namespace lockstep::runner
