#include "runner/bootstrap/pmi1_server.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace lockstep::runner {
namespace {

constexpr std::size_t kReadAtOnce = 16384;
using Interest = io::EventLoop::Interest;

}  // namespace

Pmi1Server::Pmi1Server(io::EventLoop& loop, const Pmi1Protocol::Job& job, Events events)
    : loop_(loop), protocol_(job, protocol_events(std::move(events))) {}

Pmi1Server::~Pmi1Server() { close_all(); }

Pmi1Protocol::Events Pmi1Server::protocol_events(Events events) {
  return {std::move(events.connected),
          std::move(events.finalized),
          std::move(events.aborted),
          std::move(events.refused),
          [this](int rank, const std::string& line) { answer(rank, line); },
          std::move(events.barrier)};
}

Result<io::Fd> Pmi1Server::connect(int rank) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return errno_error(errno, "socketpair for a rank's PMI");
  connections_[rank].fd = io::Fd(ends[0]);
  watch(rank);
  return io::Fd(ends[1]);
}

void Pmi1Server::read(int rank) {
  Connection& connection = connections_[rank];
  std::array<char, kReadAtOnce> buffer;
  const ssize_t length = ::recv(connection.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (length <= 0) return close(rank);
  connection.in.append(buffer.data(), static_cast<std::size_t>(length));
  advance(rank);
}

void Pmi1Server::answer(int rank, const std::string& line) {
  const auto found = connections_.find(rank);
  // The connection was closed, or its client broke the protocol.
  if (found == connections_.end()) return;
  found->second.out += line;
  send(rank);
}

// Bytes that the socket does not take now are sent when it is writable.
void Pmi1Server::send(int rank) {
  Connection& connection = connections_[rank];
  const ssize_t length = ::send(connection.fd.get(), connection.out.data(), connection.out.size(),
                                MSG_DONTWAIT | MSG_NOSIGNAL);
  if (length < 0 && errno != EAGAIN && errno != EINTR) return close(rank);
  if (length > 0) connection.out.erase(0, static_cast<std::size_t>(length));
  watch(rank);
}

void Pmi1Server::end_barrier(std::string_view new_keys_of_all_nodes) {
  protocol_.end_barrier(new_keys_of_all_nodes);
  std::deque<int> ranks;
  for (const auto& [rank, connection] : connections_) ranks.push_back(rank);
  for (const int rank : ranks) advance(rank);
}

// Handles lines of a rank. A line may complete a barrier, after which lines of all ranks are
// handled. This function does not call itself; those ranks wait here for their turn.
void Pmi1Server::advance(int rank) {
  due_.push_back(rank);
  if (std::exchange(is_advancing_, true)) return;
  while (!due_.empty()) {
    const int next = due_.front();
    due_.pop_front();
    while (take_line(next)) {
    }
    if (connections_.count(next) > 0) watch(next);
  }
  is_advancing_ = false;
}

bool Pmi1Server::take_line(int rank) {
  const auto found = connections_.find(rank);
  if (found == connections_.end()) return false;
  Connection& connection = found->second;
  if (!connection.out.empty() || protocol_.is_in_barrier(rank)) return false;
  const std::size_t end = connection.in.find('\n');
  if (std::min(end, connection.in.size()) > kMaxPmi1Line) return close(rank), false;
  if (end == std::string::npos) return false;
  const std::string line = connection.in.substr(0, end);
  connection.in.erase(0, end + 1);
  if (!protocol_.receive(rank, line)) close(rank);
  return true;
}

// Reads only after everything that was read has been answered.
void Pmi1Server::watch(int rank) {
  const Connection& connection = connections_[rank];
  const int fd = connection.fd.get();
  const bool is_answered = connection.out.empty() && !protocol_.is_in_barrier(rank);
  if (is_answered)
    loop_.watch(fd, Interest::read, [this, rank] { read(rank); });
  else
    loop_.unwatch(fd, Interest::read);
  if (connection.out.empty())
    loop_.unwatch(fd, Interest::write);
  else
    loop_.watch(fd, Interest::write, [this, rank] {
      send(rank);
      advance(rank);
    });
}

void Pmi1Server::close(int rank) {
  const auto found = connections_.find(rank);
  if (found == connections_.end()) return;
  loop_.unwatch(found->second.fd.get(), Interest::read);
  loop_.unwatch(found->second.fd.get(), Interest::write);
  connections_.erase(found);
}

void Pmi1Server::close_all() {
  while (!connections_.empty()) close(connections_.begin()->first);
}

}  // namespace lockstep::runner
