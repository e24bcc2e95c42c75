#include "runner/fabric/probe/prober.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "runner/fabric/probe/packet_search.h"

namespace lockstep::runner {
namespace {

constexpr int kUnknownMtu = 1'500;

}  // namespace

// A path from this node to one port at one address of a peer.
struct Prober::Path {
  int peer_index = 0;  // index in the plan
  PathFinding finding;
  bool is_test = false;  // true: the peer's probe port; false: only a connection to a rank's port
  bool has_burst = false;
  sockaddr_in to{};
  int full_packet = kUnknownMtu;  // the smaller MTU of the two ends
  bool is_known = false;
  bool is_again = false;  // the second test, after a full packet passed in the search
  std::optional<PacketSearch> search;
  int overhead = 0;  // bytes of headers, while packet sizes are searched
  Instant round_until = Instant::never();
};

// A connection of a path: for its test, or for one step of its search for a packet size.
struct Prober::Dialled {
  Path& path;
  const int size;  // packet size that is tried; 0: the connection is the test's
  ProbeLine line;
  bool is_taken = false;  // its result was used
};

Prober::Prober(io::EventLoop& loop, io::Clock& clock, ProberFacts facts, Done done)
    : facts_(std::move(facts)), done_(std::move(done)), clock_(clock), sockets_(loop, ready()) {}

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
  if (!to || port == 0) return;
  Path& path = *paths_.emplace_back(std::make_unique<Path>());
  path.peer_index = peer_index;
  path.to = *to;
  path.is_test = port == peer.offer.port;
  path.has_burst = path.is_test && peer.burst;
  path.finding.peer = peer.offer.node_rank;
  path.finding.candidate = candidate;
  path.finding.port = port;
  if (at.mtu > 0) path.full_packet = at.mtu;
  const ProbeLine& line = open(path, 0, {kSegmentsBytes, path.has_burst, kRoundTrips});
  note_source(path, line.source());
  if (!line.is_without_socket()) return look_at(*dialled_.back());
  spdlog::warn("{} port {} is not probed: no descriptor is left", at.address, port);
  dialled_.pop_back();
  paths_.pop_back();
}

ProbeLine& Prober::open(Path& path, int size, const PathLoad& load) {
  const TalkHello hello{facts_.node_rank, path.finding.peer, !path.is_test, fresh_nonce()};
  PathTest test(facts_.key, hello, load, clock_.now());
  dialled_.push_back(std::unique_ptr<Dialled>(new Dialled{
      path, size, ProbeLine(sockets_, clock_, dialled_.size(), path.to, std::move(test))}));
  return dialled_.back()->line;
}

// Compares interfaces, because the kernel may choose another of their addresses than the one
// offered.
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
    if (id >= dialled_.size() || !done_) return;
    Dialled& dialled = *dialled_[static_cast<std::size_t>(id)];
    dialled.line.look(events);
    look_at(dialled);
    finish_if_known();
  };
}

void Prober::look_at(Dialled& dialled) {
  if (dialled.is_taken || !dialled.line.is_over()) return;
  dialled.is_taken = true;
  Path& path = dialled.path;
  if (dialled.size == 0) return ended(path, dialled.line);
  if (path.search && dialled.line.test().state() == PathState::reached)
    path.search->heard(dialled.size);
}

void Prober::ended(Path& path, const ProbeLine& line) {
  path.finding.state = line.test().state();
  path.finding.round_trip = line.test().round_trip();
  path.finding.speed_mbps = line.test().speed_mbps();
  const bool is_lossy = line.test().lost_large_packets() && !path.is_again;
  if (is_lossy && searches_ < kMostSearches) return begin_search(path, line);
  known(path);
}

void Prober::known(Path& path) {
  path.is_known = true;
  ++known_;
}

// ---- the largest packet that passes ------------------------------------------------------------

void Prober::begin_search(Path& path, const ProbeLine& line) {
  ++searches_;
  path.overhead = line.overhead();
  path.search.emplace(path.full_packet);
  send_round(path);
}

void Prober::send_round(Path& path) {
  path.round_until = clock_.now() + kRoundWithin + kTripsOfRound * path.finding.round_trip;
  const std::vector<int> sizes = path.search->sizes();
  for (const int size : sizes) {
    const auto bytes = static_cast<std::uint32_t>(std::max(size - path.overhead, 1));
    const ProbeLine& line = open(path, size, {bytes, false, 1});
    if (line.is_without_socket()) dialled_.pop_back();
  }
}

void Prober::end_round(Path& path) {
  path.search->end_round();
  if (!path.search->is_over()) return send_round(path);
  const bool passes_full = path.search->passes_full();
  if (!passes_full) path.finding.mtu = path.search->largest();
  path.search.reset();
  path.round_until = Instant::never();
  if (passes_full) return test_again(path);
  known(path);
}

// Tests a path again: a full packet passes after all, so the peer may only have been busy. If the
// second test fails, too, many packets at once do not pass, and no size is reported.
void Prober::test_again(Path& path) {
  path.is_again = true;
  const ProbeLine& line = open(path, 0, {kSegmentsBytes, false, kRoundTrips});
  if (!line.is_without_socket()) return look_at(*dialled_.back());
  dialled_.pop_back();
  known(path);
}

// ---- the end -----------------------------------------------------------------------------------

Instant Prober::next_deadline() const {
  if (!done_) return Instant::never();
  Instant next = finish_at_;
  for (const auto& path : paths_) next = std::min(next, path->round_until);
  for (const auto& dialled : dialled_)
    if (dialled->size == 0) next = std::min(next, dialled->line.test().deadline());
  return next;
}

// Ends expired connections. Handling one may open further connections, which need no check now.
void Prober::expire(Instant now) {
  if (!done_) return;
  const std::size_t count = dialled_.size();
  for (std::size_t i = 0; i < count; ++i) {
    dialled_[i]->line.expire(now);
    look_at(*dialled_[i]);
  }
  for (const auto& path : paths_)
    if (now >= path->round_until) end_round(*path);
  finish_if_known();
}

// Whether this node has all addresses of a peer itself: such a peer is not dialled, and does not
// count.
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

// Leaves out paths without a result; a path that lacks only the packet size counts.
void Prober::finish() {
  std::vector<PathFinding> findings;
  for (const auto& path : paths_) {
    const bool loses = path->finding.state == PathState::large_packets_lost;
    if ((path->is_known || loses) && findings.size() < kMaxProbePaths)
      findings.push_back(path->finding);
  }
  dialled_.clear();
  std::exchange(done_, nullptr)(std::move(findings));
}

}  // namespace lockstep::runner
