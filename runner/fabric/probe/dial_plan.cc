#include "runner/fabric/probe/dial_plan.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lockstep::runner {
namespace {

// Makes random numbers by SplitMix64 (Steele, Lea and Flood, 2014), the same on every machine.
class RingDice {
 public:
  explicit RingDice(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return static_cast<std::size_t>((z ^ (z >> 31)) % bound);
  }

 private:
  std::uint64_t state_;
};

class Planner {
 public:
  explicit Planner(const PairRequest& request) : request_(request), peers_(request.hosts.size()) {
    for (int node = 0; node < static_cast<int>(request.hosts.size()); ++node)
      if (request.absent.empty() || !request.absent[static_cast<std::size_t>(node)])
        present_.push_back(node);
  }

  PairPlan make() {
    if (static_cast<int>(present_.size()) <= kAllPairsUpTo)
      pair_all();
    else
      pair_by_rings();
    mark_bursts();
    if (request_.all_dial_first) dial_first();
    PairPlan plan(peers_.size());
    for (std::size_t node = 0; node < peers_.size(); ++node)
      for (const auto& [rank, peer] : peers_[node]) plan[node].push_back(peer);
    return plan;
  }

 private:
  const std::string& host(int node) const { return request_.hosts[static_cast<std::size_t>(node)]; }
  std::map<int, PlannedPeer>& peers_of(int node) { return peers_[static_cast<std::size_t>(node)]; }
  bool are_apart(int a, int b) const { return a != b && host(a) != host(b); }

  void pair_all() {
    for (const int a : present_)
      for (const int b : present_)
        if (are_apart(a, b)) peers_of(a).emplace(b, PlannedPeer{b});
  }

  // The next node on another host along the ring; -1: all nodes are on one host.
  int next_on(const std::vector<int>& ring, std::size_t place) const {
    for (std::size_t step = 1; step < ring.size(); ++step) {
      const int other = ring[(place + step) % ring.size()];
      if (are_apart(ring[place], other)) return other;
    }
    return -1;
  }

  void pair_along(const std::vector<int>& ring) {
    for (std::size_t place = 0; place < ring.size(); ++place) {
      const int node = ring[place], other = next_on(ring, place);
      if (other < 0) continue;
      peers_of(node).emplace(other, PlannedPeer{other});
      if (peers_of(other).size() < kMostRingPeers - 1 - kRandomRings)
        peers_of(other).emplace(node, PlannedPeer{node});
    }
  }

  void pair_by_rings() {
    RingDice dice(request_.seed);
    std::vector<int> ring = present_;
    pair_along(ring);
    for (int i = 0; i < kRandomRings; ++i) {
      for (std::size_t left = ring.size(); left > 1; --left)
        std::swap(ring[left - 1], ring[dice.below(left)]);
      pair_along(ring);
    }
  }

  void mark_bursts() {
    for (std::size_t place = 0; place < present_.size(); ++place) {
      const auto peer = peers_of(present_[place]).find(next_on(present_, place));
      if (peer != peers_of(present_[place]).end()) peer->second.burst = true;
    }
  }

  void dial_first() {
    for (const int node : present_)
      if (!present_.empty() && present_.front() == 0 && are_apart(node, 0))
        peers_of(node).emplace(0, PlannedPeer{0, false});
  }

  const PairRequest& request_;
  std::vector<int> present_;
  std::vector<std::map<int, PlannedPeer>> peers_;
};

}  // namespace

PairPlan plan_pairs(const PairRequest& request) { return Planner(request).make(); }

}  // namespace lockstep::runner
