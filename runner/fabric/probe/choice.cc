#include "runner/fabric/probe/choice.h"

#include <algorithm>
#include <climits>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "runner/fabric/probe/candidates.h"

namespace lockstep::runner {
namespace {

std::optional<PathTrouble> trouble_of(PathState state) {
  switch (state) {
    case PathState::reached: return std::nullopt;
    case PathState::no_route: return PathTrouble::no_route;
    case PathState::refused:
    case PathState::other_host: return PathTrouble::refused;
    case PathState::timed_out: return PathTrouble::timed_out;
    case PathState::large_packets_lost: return PathTrouble::large_packets_lost;
  }
  return PathTrouble::timed_out;
}

// The results for one address of a peer.
struct Leg {
  const PathFinding* test = nullptr;  // null: the test is missing or did not finish
  // A port that could not be reached; the port of the test comes first.
  const PathFinding* closed = nullptr;

  bool is_broken() const { return closed != nullptr; }
  bool is_reached() const { return test != nullptr && closed == nullptr; }
  bool leaves_from(int candidate) const { return is_reached() && test->source == candidate; }
};

// The results for all addresses of a peer.
struct Legs {
  std::vector<Leg> at;  // one leg per candidate
  bool tested = false;  // false: only the ports of its ranks were dialled
};

template <typename T>
T median_of(std::vector<T> values, T none) {
  if (values.empty()) return none;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The quality of a choice of one candidate for each node.
struct Merit {
  int broken = 0, unknown = 0, indirect = 0;  // the numbers of pairs
  std::int64_t speed_mbps = 0;                // medians over the pairs; 0: not measured
  Duration round_trip{0};

  bool is_clearly_better_than(const Merit& known) const {
    const auto counts = [](const Merit& m) { return std::tie(m.broken, m.unknown, m.indirect); };
    if (counts(*this) != counts(known)) return counts(*this) < counts(known);
    if (speed_mbps >= kClearlyFaster * known.speed_mbps && known.speed_mbps > 0) return true;
    if (known.speed_mbps >= kClearlyFaster * speed_mbps && speed_mbps > 0) return false;
    return round_trip > Duration::zero() && kClearlyFaster * round_trip <= known.round_trip;
  }
};

// The value of an address for a neighbour, by how it is reached. An unknown result is worse than a
// failure, because a failure can be explained.
constexpr int kWorthDirect = 4, kWorthIndirect = 1, kWorthBroken = -8, kWorthUnknown = -9;

// The index of the candidate that each node uses, by node rank; -1: none.
using Candidates = std::vector<int>;

class Chooser {
 public:
  explicit Chooser(const std::vector<ProbedNode>& nodes)
      : nodes_(nodes), legs_(nodes.size()), neighbours_(nodes.size()) {
    for (int node = 0; node < count(); ++node) read(node);
  }

  ProbeOutcome choose() {
    const Candidates best = best_network();
    ProbeOutcome outcome;
    for (int node = 0; node < count(); ++node)
      outcome.result.chosen.push_back(describe(node, best));
    std::vector<PathFailure> fatal = failures_of(best);
    outcome.failed_on = in_common(fatal);
    std::stable_partition(fatal.begin(), fatal.end(), [&](const PathFailure& each) {
      return each.from == outcome.failed_on || each.to == outcome.failed_on;
    });
    if (fatal.size() > kMaxPathFailures) fatal.resize(kMaxPathFailures);
    outcome.result.broken = static_cast<int>(fatal.size());
    note_others(best, fatal);
    outcome.result.failures = std::move(fatal);
    return outcome;
  }

 private:
  int count() const { return static_cast<int>(nodes_.size()); }
  const ProbedNode& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  const std::vector<ProbeCandidate>& candidates(int node) const {
    static const std::vector<ProbeCandidate> kNone;
    return at(node).offer ? at(node).offer->candidates : kNone;
  }
  // The nodes that dialled it or that it dialled.
  const std::set<int>& neighbours(int node) const {
    return neighbours_[static_cast<std::size_t>(node)];
  }
  int candidate_count(int node) const { return static_cast<int>(candidates(node).size()); }
  std::map<int, Legs>& legs_of(int node) { return legs_[static_cast<std::size_t>(node)]; }
  const std::map<int, Legs>& legs_of(int node) const {
    return legs_[static_cast<std::size_t>(node)];
  }

  // Findings about addresses that were not offered are ignored.
  void read(int node) {
    if (!at(node).findings) return;
    for (const PathFinding& path : at(node).findings->paths) {
      if (path.peer < 0 || path.peer >= count() || path.peer == node) continue;
      if (path.candidate < 0 || path.candidate >= candidate_count(path.peer)) continue;
      Legs& legs = legs_of(node)[path.peer];
      legs.at.resize(candidates(path.peer).size());
      Leg& met = legs.at[static_cast<std::size_t>(path.candidate)];
      const bool is_test = path.port == at(path.peer).offer->port;
      legs.tested = legs.tested || is_test;
      if (is_test) met.test = &path;
      if (trouble_of(path.state) && (is_test || met.closed == nullptr)) met.closed = &path;
      neighbours_[static_cast<std::size_t>(node)].insert(path.peer);
      neighbours_[static_cast<std::size_t>(path.peer)].insert(node);
    }
  }

  // The leg of a path; null: it was not part of the plan.
  const Leg* leg(int from, int to, int candidate) const {
    const auto found = legs_of(from).find(to);
    if (found == legs_of(from).end() || candidate < 0) return nullptr;
    const Legs& legs = found->second;
    if (candidate >= static_cast<int>(legs.at.size())) return nullptr;
    const Leg& met = legs.at[static_cast<std::size_t>(candidate)];
    return (legs.tested || met.is_broken()) ? &met : nullptr;
  }

  static int worth(const Leg* met, int source) {
    if (met == nullptr) return 0;
    if (met->is_broken()) return kWorthBroken;
    if (!met->is_reached()) return kWorthUnknown;
    return met->leaves_from(source) ? kWorthDirect : kWorthIndirect;
  }

  // The combined value of candidate `a` of node `from` and candidate `b` of node `to`.
  int affinity(int from, int a, int to, int b) const {
    return worth(leg(from, to, b), a) + worth(leg(to, from, a), b);
  }

  // The candidate of `node` with the best value for the candidates of its neighbours. -1: none is
  // better than `least`, or nothing is known.
  int best_reply(int node, const Candidates& used, int least) const {
    int best = -1, most = least;
    if (neighbours(node).empty()) return best;
    for (int b = 0; b < candidate_count(node); ++b) {
      int sum = 0;
      for (const int other : neighbours(node))
        if (const int a = used[static_cast<std::size_t>(other)]; a >= 0)
          sum += affinity(other, a, node, b);
      if (sum > most) {
        most = sum;
        best = b;
      }
    }
    return best;
  }

  // The network of candidate `a` of node `seed`: goes from node to node, and takes the candidate
  // that fits those chosen before. If none fits, it takes the best of them.
  Candidates grow(int seed, int a) const {
    Candidates used(nodes_.size(), -1);
    used[static_cast<std::size_t>(seed)] = a;
    std::deque<int> open{seed};
    while (!open.empty()) {
      const int node = open.front();
      open.pop_front();
      for (const int other : neighbours(node)) {
        int& reply = used[static_cast<std::size_t>(other)];
        if (reply >= 0) continue;
        reply = best_reply(other, used, 0);
        if (reply >= 0) open.push_back(other);
      }
    }
    for (int node = 0; node < count(); ++node) {
      int& reply = used[static_cast<std::size_t>(node)];
      if (reply < 0) reply = best_reply(node, used, INT_MIN);
    }
    return used;
  }

  Merit merit_of(const Candidates& used) const {
    Merit merit;
    std::vector<std::int64_t> speeds;
    std::vector<Duration> round_trips;
    for (int from = 0; from < count(); ++from)
      for (const auto& [to, legs] : legs_of(from)) {
        const Leg* const found = leg(from, to, used[static_cast<std::size_t>(to)]);
        if (found == nullptr) continue;
        if (found->is_broken()) {
          ++merit.broken;
        } else if (!found->is_reached()) {
          ++merit.unknown;
        } else {
          if (!found->leaves_from(used[static_cast<std::size_t>(from)])) ++merit.indirect;
          if (found->test->speed_mbps > 0) speeds.push_back(found->test->speed_mbps);
          if (found->test->round_trip > Duration::zero())
            round_trips.push_back(found->test->round_trip);
        }
      }
    merit.speed_mbps = median_of(std::move(speeds), std::int64_t{0});
    merit.round_trip = median_of(std::move(round_trips), Duration(0));
    return merit;
  }

  // Chooses the network. The first candidate is the address in the launcher's table. It stays
  // unless another one is clearly better.
  Candidates best_network() const {
    int seed = 0;
    while (seed < count() && (candidates(seed).empty() || neighbours(seed).empty())) ++seed;
    if (seed == count()) return Candidates(nodes_.size(), -1);
    Candidates best = grow(seed, 0);
    Merit most = merit_of(best);
    for (int a = 1; a < candidate_count(seed); ++a) {
      Candidates other = grow(seed, a);
      const Merit merit = merit_of(other);
      if (!merit.is_clearly_better_than(most)) continue;
      best = std::move(other);
      most = merit;
    }
    return best;
  }

  // Whether a node keeps its name. A name is not resolved, and so not probed. If no other address
  // of the node works, the name is kept.
  bool keeps_name(int node, const Candidates& used) const {
    if (is_ipv4(at(node).address)) return false;
    for (const int other : neighbours(node)) {
      const Leg* const met = leg(other, node, used[static_cast<std::size_t>(node)]);
      if (met != nullptr && met->is_broken()) return true;
    }
    return false;
  }

  ChosenPath describe(int node, const Candidates& used) const {
    ChosenPath path;
    path.node_rank = node;
    path.address = at(node).address;
    const int a = used[static_cast<std::size_t>(node)];
    if (a < 0 || keeps_name(node, used)) return path;
    const ProbeCandidate& own = candidates(node)[static_cast<std::size_t>(a)];
    path.interface = own.interface;
    path.address = own.address;
    path.mtu = own.mtu;
    std::vector<Duration> round_trips;
    for (const auto& [to, legs] : legs_of(node)) {
      const Leg* const found = leg(node, to, used[static_cast<std::size_t>(to)]);
      if (found == nullptr || !found->is_reached()) continue;
      round_trips.push_back(found->test->round_trip);
      path.speed_mbps = std::max(path.speed_mbps, found->test->speed_mbps);
    }
    path.round_trip = median_of(std::move(round_trips), Duration(0));
    return path;
  }

  PathFailure failure_at(int from, const PathFinding& path, const Candidates& used) const {
    PathFailure failure;
    failure.from = from;
    failure.to = path.peer;
    failure.from_address = path.from_address;
    int source = path.source;
    if (failure.from_address.empty()) source = used[static_cast<std::size_t>(from)];
    if (source >= 0 && source < candidate_count(from)) {
      const ProbeCandidate& own = candidates(from)[static_cast<std::size_t>(source)];
      failure.from_interface = own.interface;
      if (failure.from_address.empty()) failure.from_address = own.address;
    }
    failure.to_address = candidates(path.peer)[static_cast<std::size_t>(path.candidate)].address;
    failure.port = path.port;
    failure.trouble = trouble_of(path.state).value_or(PathTrouble::timed_out);
    failure.mtu = path.mtu;
    return failure;
  }

  // The failures between the addresses that the gang would use.
  std::vector<PathFailure> failures_of(const Candidates& used) const {
    std::vector<PathFailure> failures;
    for (int from = 0; from < count(); ++from)
      for (const auto& [to, legs] : legs_of(from))
        if (const Leg* const found = leg(from, to, used[static_cast<std::size_t>(to)]);
            found != nullptr && found->is_broken() && !keeps_name(to, used))
          failures.push_back(failure_at(from, *found->closed, used));
    return failures;
  }

  bool reaches(int from, int to, int source) const {
    const auto found = legs_of(from).find(to);
    return found != legs_of(from).end() &&
           std::any_of(found->second.at.begin(), found->second.at.end(),
                       [source](const Leg& each) { return each.leaves_from(source); });
  }

  // Notes failures of addresses that are not used. An address that other machines have as well,
  // such as a container bridge's, does not count, nor one whose route uses an interface that
  // reaches the node at another address.
  void note_others(const Candidates& used, std::vector<PathFailure>& failures) const {
    for (int from = 0; from < count(); ++from)
      for (const auto& [to, legs] : legs_of(from))
        for (int b = 0; b < static_cast<int>(legs.at.size()); ++b) {
          const PathFinding* const closed = legs.at[static_cast<std::size_t>(b)].closed;
          if (failures.size() >= kMaxPathFailures) return;
          if (closed == nullptr || closed->state == PathState::other_host) continue;
          if (b == used[static_cast<std::size_t>(to)]) continue;
          if (reaches(from, to, closed->source)) continue;
          failures.push_back(failure_at(from, *closed, used));
        }
  }

  // The node to avoid next time: one with the most failures. Node 0 keeps its place if another one
  // has as many. Of a pair, it is the node that is not reached.
  static int in_common(const std::vector<PathFailure>& failures) {
    std::map<int, int> of_node;
    for (const PathFailure& each : failures) {
      ++of_node[each.from];
      ++of_node[each.to];
    }
    int worst = -1;
    std::tuple<int, bool, bool> most{0, false, false};
    for (const auto& [node, times] : of_node) {
      const std::tuple mark{times, node != 0, node == failures.front().to};
      if (mark <= most) continue;
      most = mark;
      worst = node;
    }
    return worst;
  }

  const std::vector<ProbedNode>& nodes_;
  std::vector<std::map<int, Legs>> legs_;
  std::vector<std::set<int>> neighbours_;
};

}  // namespace

ProbeOutcome choose(const std::vector<ProbedNode>& nodes) { return Chooser(nodes).choose(); }

}  // namespace lockstep::runner
