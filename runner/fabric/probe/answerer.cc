#include "runner/fabric/probe/answerer.h"

#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace lockstep::runner {
namespace {

constexpr std::uint64_t kListenerId = 1;    // the listeners have this id and those that follow
constexpr std::uint64_t kFirstGuest = 100;  // the first id of connections
// The first port that Open MPI tries: btl_tcp_port_min_v4.
constexpr std::uint16_t kOpenMpisFirstPort = 1'024;
// the number of ports that are tried, as in Open MPI: some are in use or in TIME_WAIT
constexpr int kOpenMpisTries = 2'048;
constexpr std::size_t kPieceBytes = 64u << 10;

io::Fd listen_as_open_mpi() {
  for (int i = 0; i < kOpenMpisTries; ++i)
    if (auto listener = listen_on(static_cast<std::uint16_t>(kOpenMpisFirstPort + i), false))
      return *std::move(listener);
  return io::Fd();
}

}  // namespace

Result<std::unique_ptr<Answerer>> Answerer::open(io::EventLoop& loop, int self,
                                                 const RankPortPlan& ranks) {
  std::unique_ptr<Answerer> made(new Answerer(loop, self));
  TRY_ASSIGN(io::Fd tests, listen_on(0, false));
  made->listeners_.push_back(std::move(tests));
  for (const std::uint16_t port : ranks.leased) {
    if (made->listeners_.size() > kMaxProbeRankPorts) break;
    auto listener = listen_on(port, true);
    if (listener)
      made->listeners_.push_back(*std::move(listener));
    else
      spdlog::warn("port {} is not probed: {}", port, listener.error().message);
  }
  if (ranks.as_open_mpi && made->listeners_.size() <= kMaxProbeRankPorts)
    if (io::Fd listener = listen_as_open_mpi()) made->listeners_.push_back(std::move(listener));
  return Result<std::unique_ptr<Answerer>>(std::move(made));
}

std::vector<std::uint16_t> Answerer::rank_ports() const {
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 1; i < listeners_.size(); ++i)
    ports.push_back(port_of_socket(listeners_[i].get()));
  return ports;
}

void Answerer::answer_with(const std::string& key) {
  if (!key_.empty() || key.size() != kProbeKeyBytes) return;
  key_ = key;
  last_id_ = kFirstGuest;
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    sockets_.watch(listeners_[i].get(), kListenerId + i, EPOLLIN);
}

SocketSet::Ready Answerer::ready() {
  return [this](std::uint64_t id, std::uint32_t) {
    if (id < kFirstGuest)
      return accept_all(listeners_[static_cast<std::size_t>(id - kListenerId)].get());
    const auto incoming = incoming_.find(id);
    if (incoming != incoming_.end()) serve(id, incoming->second);
  };
}

// Accepts connections, at most kMostIncoming at once; the others wait in the kernel's queue.
void Answerer::accept_all(int listener) {
  while (incoming_.size() < kMostIncoming) {
    io::Fd fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    send_segments_at_once(fd.get());
    const std::uint64_t id = ++last_id_;
    sockets_.watch(fd.get(), id, EPOLLIN);
    incoming_.emplace(id, Incoming{std::move(fd), PathAnswer(key_, self_, fresh_nonce())});
  }
}

void Answerer::serve(std::uint64_t id, Incoming& incoming) {
  std::array<char, kPieceBytes> piece;
  const ssize_t got = ::recv(incoming.fd.get(), piece.data(), piece.size(), 0);
  if (got > 0) incoming.answer.received({piece.data(), static_cast<std::size_t>(got)});
  const bool has_ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  while (!incoming.answer.to_send().empty() && !has_ended) {
    const std::string_view text = incoming.answer.to_send();
    const ssize_t sent = ::send(incoming.fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;
    incoming.answer.sent(static_cast<std::size_t>(sent));
  }
  if (has_ended || incoming.answer.is_broken()) {
    incoming_.erase(id);
    return;
  }
  const bool owes = !incoming.answer.to_send().empty();
  if (owes == std::exchange(incoming.owes, owes)) return;
  constexpr std::uint32_t kReads = EPOLLIN, kReadsAndWrites = EPOLLIN | EPOLLOUT;
  sockets_.watch(incoming.fd.get(), id, owes ? kReadsAndWrites : kReads);
}

}  // namespace lockstep::runner
