// Evidence from connections: ranks that are blocked on each other's sockets, and peers whose kernel
// does not acknowledge data.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runner/watch/compare/evidence.h"

namespace lockstep::runner {
namespace {

// The host of an end: "10.0.0.4" of "10.0.0.4:29500", "fe80::1" of "[fe80::1]:80".
std::string_view host_of(std::string_view end) {
  if (end.starts_with('[')) return end.substr(1, end.find(']') - 1);
  const std::size_t colon = end.find(':');
  // A text with more than one colon is an IPv6 address without a port.
  return colon == end.rfind(':') ? end.substr(0, colon) : end;
}

const RankNow& at(const GangNow& gang, int rank) { return gang[static_cast<std::size_t>(rank)]; }

bool is_at_store(const RankStanding& standing, const GangShape& shape) {
  return shape.store_port != 0 && standing.on.ends_with(":" + std::to_string(shape.store_port));
}

// Whether it is blocked in the kernel on the socket of one peer, and no other of its threads is
// busy.
bool is_blocked_on_peer(const RankNow& one, const GangShape& shape) {
  return one.standing != nullptr && !one.is_lost && one.role == Role::waits &&
         !one.standing->on.empty() && !one.standing->has_timeout &&
         one.standing->threads_running == 0 && !is_at_store(*one.standing, shape);
}

// Finds the peer by both ends of the connection, or because the node of the far end has only one
// rank.
class PeerFinder {
 public:
  PeerFinder(const GangNow& gang, const GangShape& shape) : gang_(gang), shape_(shape) {
    for (std::size_t i = 0; i < gang.size(); ++i) {
      if (gang[i].standing == nullptr || gang[i].role == Role::ended) continue;
      const int rank = static_cast<int>(i);
      const RankStanding& standing = *gang[i].standing;
      on_node_[standing.node_rank].push_back(rank);
      if (is_blocked_on_peer(gang[i], shape) && !standing.own_end.empty())
        by_ends_[{standing.own_end, standing.on}] = rank;
    }
  }

  // The rank for which this one waits; -1: unknown.
  int peer_of(int rank) const {
    const RankStanding& standing = *at(gang_, rank).standing;
    const auto exact = by_ends_.find({standing.on, standing.own_end});
    if (exact != by_ends_.end()) return exact->second;
    const std::vector<int>* const there = on_node(standing.on);
    if (there == nullptr || there->size() != 1 || there->front() == rank) return -1;
    return there->front();
  }

  const std::vector<int>* on_node(std::string_view address) const {
    const auto found = on_node_.find(node_of_address(shape_, address));
    return found == on_node_.end() ? nullptr : &found->second;
  }

 private:
  const GangNow& gang_;
  const GangShape& shape_;
  std::map<int, std::vector<int>> on_node_;
  std::map<std::pair<std::string, std::string>, int> by_ends_;
};

// Follows each rank to the one that it waits for. A walk that returns to its start has found a
// cycle.
std::vector<std::vector<int>> circles_in(const std::map<int, int>& waits_for) {
  std::vector<std::vector<int>> circles;
  std::set<int> met;
  for (const auto& [first, peer] : waits_for) {
    std::vector<int> path;
    int rank = first;
    auto next = waits_for.find(rank);
    while (next != waits_for.end() && met.insert(rank).second) {
      path.push_back(rank);
      rank = next->second;
      next = waits_for.find(rank);
    }
    const auto start = std::find(path.begin(), path.end(), rank);
    if (start != path.end()) circles.emplace_back(start, path.end());
  }
  return circles;
}

}  // namespace

void GangShape::add_address(const std::string& address, int node_rank) {
  const auto [place, is_new] = nodes.emplace(address, node_rank);
  if (!is_new && place->second != node_rank) place->second = -1;
}

int node_of_address(const GangShape& shape, std::string_view text) {
  const auto found = shape.nodes.find(host_of(text));
  return found == shape.nodes.end() ? -1 : found->second;
}

EvidenceList wait_cycles(const GangNow& gang, const GangShape& shape, Duration after) {
  std::map<int, int> waits_for;
  std::optional<PeerFinder> finder;
  for (std::size_t i = 0; i < gang.size(); ++i) {
    if (!is_blocked_on_peer(gang[i], shape) || gang[i].still < after) continue;
    if (!finder) finder.emplace(gang, shape);
    const int peer = finder->peer_of(static_cast<int>(i));
    if (peer >= 0) waits_for[static_cast<int>(i)] = peer;
  }
  EvidenceList found;
  for (const std::vector<int>& cycle : circles_in(waits_for)) {
    if (found.size() == kMaxFound) break;
    Evidence evidence;
    evidence.found.kind = FoundKind::cycle;
    evidence.found.ranks = found_ranks(gang, cycle);
    evidence.found.lasting = Duration::max();
    for (const int one : cycle)
      evidence.found.lasting = std::min(evidence.found.lasting, at(gang, one).still);
    evidence.may_hang = evidence.is_hidden = true;
    evidence.look_at = cycle;
    found.push_back(std::move(evidence));
  }
  return found;
}

// Finds unreachable peers: a kernel acknowledges data even if its process is stopped, computes or
// does not read.
EvidenceList unreachable_peers(const GangNow& gang, const GangShape& shape, Duration after) {
  std::map<int, std::vector<int>> waiting;  // ranks that wait, by the node that does not answer
  for (std::size_t i = 0; i < gang.size(); ++i) {
    const RankNow& one = gang[i];
    const bool is_cut_off = one.standing != nullptr && !one.is_lost && is_waiting(one.role) &&
                            one.standing->unacked > 0 && one.standing->retransmits > 0 &&
                            one.still >= kSayUnreachableAfter;
    if (!is_cut_off) continue;
    const RankStanding& standing = *one.standing;
    const int node =
        node_of_address(shape, standing.unacked_by.empty() ? standing.on : standing.unacked_by);
    if (node >= 0 && node != standing.node_rank) waiting[node].push_back(static_cast<int>(i));
  }
  EvidenceList found;
  if (waiting.empty()) return found;
  std::map<int, std::vector<int>> by_node;
  for (std::size_t i = 0; i < gang.size(); ++i)
    if (gang[i].standing != nullptr)
      by_node[gang[i].standing->node_rank].push_back(static_cast<int>(i));
  for (const auto& [node, ranks] : waiting) {
    if (found.size() == kMaxFound) break;
    const std::vector<int>& there = by_node[node];
    if (there.empty()) continue;
    Evidence evidence;
    evidence.found.kind = FoundKind::peer_gone;
    evidence.found.ranks = found_ranks(gang, there);
    evidence.found.waiting.assign(
        ranks.begin(),
        ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), kMaxFoundWaiting)));
    evidence.found.lasting = Duration::max();
    for (const int rank : ranks)
      evidence.found.lasting = std::min(evidence.found.lasting, at(gang, rank).still);
    evidence.found.fact =
        std::to_string(at(gang, ranks.front()).standing->retransmits) + " retransmits";
    evidence.may_hang = evidence.found.lasting >= after;
    evidence.look_at = ranks;
    found.push_back(std::move(evidence));
  }
  return found;
}

}  // namespace lockstep::runner
