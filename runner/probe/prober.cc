#include "runner/probe/prober.h"

#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace lockstep::runner {
namespace {

constexpr std::uint32_t kWaitsToRead = EPOLLIN, kWaitsForBoth = EPOLLIN | EPOLLOUT;
constexpr int kUnknownMtu = 1'500;

}  // namespace

// One connection, and where it lost full segments, the packets that are sent after it.
struct Prober::Path {
  Path(PathTest of, std::uint64_t its_id, int peer)
      : test(std::move(of)), id(its_id), peer_index(peer) {}

  PathTest test;
  const std::uint64_t id;  // its place in paths_
  const int peer_index;    // in the plan
  PathFinding finding;
  io::Fd fd;
  sockaddr_in to{}, echo{};
  int full_packet = 0;  // the smaller MTU of both ends
  bool is_dialling = true, waits_to_write = true, is_known = false;
  std::optional<PacketSearch> search;
  io::Fd datagrams;
  Instant round_until = Instant::never();
};

Prober::Prober(io::EventLoop& loop, ProberFacts facts, Done done)
    : facts_(std::move(facts)), done_(std::move(done)), sockets_(loop, ready()) {}

Prober::~Prober() = default;

void Prober::begin(const std::vector<ProbePeer>& peers) {
  begun_ = clock_.now();
  finish_at_ = begun_ + kPathsWithin;
  for (const ProbePeer& peer : peers) dial_all(peers_++, peer);
  finish_if_known();
}

void Prober::dial_all(int peer_index, const ProbePeer& peer) {
  for (int candidate = 0; candidate < static_cast<int>(peer.offer.candidates.size()); ++candidate) {
    if (facts_.addresses.count(peer.offer.candidates[static_cast<std::size_t>(candidate)].address))
      continue;
    if (peer.tested) dial_one(peer_index, peer, candidate, peer.offer.port);
    for (const std::uint16_t port : peer.offer.rank_ports)
      dial_one(peer_index, peer, candidate, port);
  }
}

void Prober::dial_one(int peer_index, const ProbePeer& peer, int candidate, std::uint16_t port) {
  const ProbeCandidate& at = peer.offer.candidates[static_cast<std::size_t>(candidate)];
  const auto to = ipv4(at.address, port);
  const auto echo = ipv4(at.address, peer.offer.echo_port);
  if (!to || !echo || port == 0) return;
  const bool is_test = port == peer.offer.port;
  int error = 0;
  io::Fd fd = dial(*to, &error);
  if (!fd) {
    spdlog::warn("{} is not probed: no socket is left: errno {}", at.address, error);
    return;
  }
  const TalkHello hello{facts_.node_rank, peer.offer.node_rank, !is_test, fresh_nonce()};
  auto path = std::make_unique<Path>(
      PathTest(facts_.key, hello, is_test && peer.burst, clock_.now()), paths_.size(), peer_index);
  path->to = *to;
  path->echo = *echo;
  path->finding.peer = peer.offer.node_rank;
  path->finding.candidate = candidate;
  path->finding.port = port;
  path->full_packet = at.mtu > 0 ? at.mtu : kUnknownMtu;
  note_source(*path, address_of_socket(fd.get()));
  send_segments_at_once(fd.get());
  path->fd = std::move(fd);
  paths_.push_back(std::move(path));
  Path& made = *paths_.back();
  if (error != 0 && error != EINPROGRESS) {
    made.test.failed(error);
    return ended(made);
  }
  sockets_.watch(made.fd.get(), made.id, kWaitsForBoth);
}

// By its interface: of several addresses the kernel may take another than the one that is offered.
void Prober::note_source(Path& path, const std::string& address) {
  path.finding.from_address = address;
  const auto local = facts_.addresses.find(address);
  if (local == facts_.addresses.end()) return;
  for (std::size_t own = 0; own < facts_.candidates.size(); ++own) {
    const ProbeCandidate& candidate = facts_.candidates[own];
    if (candidate.interface != local->second) continue;
    path.finding.source = static_cast<int>(own);
    if (candidate.mtu > 0) path.full_packet = std::min(path.full_packet, candidate.mtu);
  }
}

SocketSet::Ready Prober::ready() {
  return [this](std::uint64_t id, std::uint32_t events) {
    if (id < paths_.size() && done_) look(*paths_[static_cast<std::size_t>(id)], events);
  };
}

void Prober::look(Path& path, std::uint32_t events) {
  if (path.search) {
    hear_echoes(path);
  } else if (path.fd) {
    if (path.is_dialling) {
      int error = 0;
      socklen_t size = sizeof error;
      if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0) return;
      if (::getsockopt(path.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
      path.is_dialling = false;
      if (error == 0)
        path.test.connected(clock_.now());
      else
        path.test.failed(error);
    }
    if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) receive(path);
    move(path);
  }
  finish_if_known();
}

void Prober::receive(Path& path) {
  std::array<char, 4'096> piece;
  while (!path.test.is_over()) {
    const ssize_t got = ::recv(path.fd.get(), piece.data(), piece.size(), 0);
    if (got > 0) {
      path.test.received(clock_.now(), {piece.data(), static_cast<std::size_t>(got)});
      move(path);  // at once: the round trip is being measured
      continue;
    }
    if (got == 0) path.test.closed();
    if (got < 0 && errno != EAGAIN && errno != EINTR) path.test.failed(errno);
    return;
  }
}

// Sends what it can, and sees whether that was all.
void Prober::move(Path& path) {
  if (!path.fd) return;
  while (!path.test.is_over() && !path.test.to_send().empty()) {
    const std::string_view text = path.test.to_send();
    const ssize_t sent = ::send(path.fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;
    path.test.sent(static_cast<std::size_t>(sent));
  }
  if (path.test.is_over()) return ended(path);
  const bool owes = path.is_dialling || !path.test.to_send().empty();
  if (owes == std::exchange(path.waits_to_write, owes)) return;
  sockets_.watch(path.fd.get(), path.id, owes ? kWaitsForBoth : kWaitsToRead);
}

void Prober::ended(Path& path) {
  path.fd.reset();
  path.finding.state = path.test.state();
  path.finding.round_trip = path.test.round_trip();
  path.finding.speed_mbps = path.test.speed_mbps();
  if (path.test.lost_large_packets()) return search(path);
  known(path);
}

void Prober::known(Path& path) {
  path.is_known = true;
  ++known_;
}

// ---- the largest packet that passes ------------------------------------------------------------

void Prober::search(Path& path) {
  auto datagrams = open_datagrams();
  if (!datagrams) return known(path);
  path.datagrams = *std::move(datagrams);
  never_fragment(path.datagrams.get());
  path.search.emplace(path.full_packet);
  sockets_.watch(path.datagrams.get(), path.id, kWaitsToRead);
  send_round(path);
}

// Twice: one that is lost by chance would be taken for too large.
void Prober::send_round(Path& path) {
  path.round_until = clock_.now() + kEchoWithin;
  for (int copy = 0; copy < 2; ++copy)
    for (const int size : path.search->sizes()) {
      std::string packet =
          encode_packet(facts_.key, {facts_.node_rank, path.finding.peer, size, false});
      packet.resize(static_cast<std::size_t>(size - kPacketOverhead), '\0');
      (void)::sendto(path.datagrams.get(), packet.data(), packet.size(), MSG_NOSIGNAL,
                     reinterpret_cast<const sockaddr*>(&path.echo), sizeof path.echo);
    }
}

void Prober::hear_echoes(Path& path) {
  std::array<char, 2 * kPacketHeadBytes> piece;
  while (true) {
    const ssize_t got = ::recv(path.datagrams.get(), piece.data(), piece.size(), 0);
    if (got < 0) return;
    const auto answer = decode_packet(facts_.key, {piece.data(), static_cast<std::size_t>(got)});
    if (answer && answer->is_answer && answer->from == facts_.node_rank &&
        answer->to == path.finding.peer)
      path.search->heard(answer->size);
  }
}

// Full packets that pass after all: then it was something else that held the segments up.
void Prober::end_search(Path& path) {
  path.finding.mtu = path.search->largest();
  if (path.search->passes_full()) path.finding.state = PathState::timed_out;
  path.search.reset();
  path.datagrams.reset();
  path.round_until = Instant::never();
  known(path);
}

// ---- the end -----------------------------------------------------------------------------------

Instant Prober::next_deadline() const {
  if (!done_) return Instant::never();
  Instant next = finish_at_;
  for (const auto& path : paths_) {
    if (path->is_known) continue;
    next = std::min(next, path->search ? path->round_until : path->test.deadline());
  }
  return next;
}

void Prober::expire(Instant now) {
  if (!done_) return;
  for (const auto& path : paths_) {
    if (path->is_known) continue;
    if (path->search) {
      if (now < path->round_until) continue;
      hear_echoes(*path);
      path->search->end_round();
      if (path->search->is_over())
        end_search(*path);
      else
        send_round(*path);
    } else {
      path->test.expire(now);
      if (path->test.is_over()) ended(*path);
    }
  }
  finish_if_known();
}

// A peer whose addresses are all ours is not dialled, and does not count.
bool Prober::are_all_reached_from(int source) const {
  enum class At { nothing, open, closed };
  std::vector<std::array<At, kMaxProbeCandidates>> met(static_cast<std::size_t>(peers_));
  for (const auto& path : paths_) {
    At& at = met[static_cast<std::size_t>(path->peer_index)]
                [static_cast<std::size_t>(path->finding.candidate)];
    const bool is_open = path->is_known && path->finding.state == PathState::reached &&
                         path->finding.source == source;
    at = is_open && at != At::closed ? At::open : At::closed;
  }
  return std::all_of(met.begin(), met.end(), [](const auto& of_peer) {
    const auto has = [&of_peer](At what) {
      return std::find(of_peer.begin(), of_peer.end(), what) != of_peer.end();
    };
    return has(At::open) || !has(At::closed);
  });
}

bool Prober::are_all_reached() const {
  for (int own = 0; own < static_cast<int>(facts_.candidates.size()); ++own)
    if (are_all_reached_from(own)) return true;
  return false;
}

void Prober::finish_if_known() {
  if (!done_) return;
  const Instant now = clock_.now();
  if (known_ == paths_.size() || now >= finish_at_) return finish();
  if (has_waited_for_stragglers_ || judged_ == known_) return;
  judged_ = known_;
  if (!are_all_reached()) return;
  has_waited_for_stragglers_ = true;
  finish_at_ = std::min(finish_at_, now + kStragglers + (now - begun_));
}

// A path that is not known by now is left out.
void Prober::finish() {
  std::vector<PathFinding> findings;
  for (const auto& path : paths_) {
    path->fd.reset();
    path->datagrams.reset();
    if (path->is_known && findings.size() < kMaxProbePaths) findings.push_back(path->finding);
  }
  std::exchange(done_, nullptr)(std::move(findings));
}

}  // namespace lockstep::runner
