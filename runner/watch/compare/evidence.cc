#include "runner/watch/compare/evidence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/base/cut.h"

namespace lockstep::runner {
namespace {

using Ranks = std::vector<int>;

// The fields by which a person compares ranks that wait.
auto place_of(const RankStanding& s) { return std::tie(s.within, s.call, s.at); }

// Sorts the smallest group with the same place first: its ranks differ from the others.
void put_odd_first(const GangNow& gang, Ranks& ranks) {
  const auto before = [&](int a, int b) {
    return place_of(*gang[static_cast<std::size_t>(a)].standing) <
           place_of(*gang[static_cast<std::size_t>(b)].standing);
  };
  std::map<int, std::size_t, decltype(before)> sizes(before);
  for (const int rank : ranks) ++sizes[rank];
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](int a, int b) { return sizes.at(a) < sizes.at(b); });
}

template <typename Want>
Ranks ranks_where(const GangNow& gang, Want want) {
  Ranks ranks;
  for (std::size_t i = 0; i < gang.size(); ++i)
    if (gang[i].standing != nullptr && want(gang[i])) ranks.push_back(static_cast<int>(i));
  return ranks;
}

Ranks first_of(const Ranks& ranks, std::size_t most) {
  return {ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(std::min(most, ranks.size()))};
}

Duration shortest_still(const GangNow& gang, const Ranks& ranks) {
  Duration shortest = Duration::max();
  for (const int rank : ranks)
    shortest = std::min(shortest, gang[static_cast<std::size_t>(rank)].still);
  return ranks.empty() ? Duration::zero() : shortest;
}

Evidence evidence_of(FoundKind kind, const GangNow& gang, const Ranks& named, const Ranks& waiting,
                     Duration lasting) {
  Evidence evidence;
  evidence.found.kind = kind;
  evidence.found.ranks = found_ranks(gang, named);
  evidence.found.waiting = first_of(waiting, kMaxFoundWaiting);
  evidence.found.lasting = lasting;
  return evidence;
}

bool is_live(const RankNow& one) { return one.role != Role::ended && !one.is_lost; }

// ---- nobody can go on ---------------------------------------------------------------------------

// The live ranks of a gang that cannot go on; nullopt: some rank may go on, or its state is
// unknown.
struct Stuck {
  Ranks live, waiting, locked, stopped, left, failed, lost;
  bool only_peers = true;  // no rank may be waiting for its own GPU
  bool surely = true;      // a rank that waits would be seen to move
  bool for_ranks = true;   // no rank is known to wait for something other than a rank
};

// Whether a rank's stack shows no call of a library in which ranks wait for each other: its
// connection may lead to a server on a node of the gang.
bool waits_in_own_code(const RankStanding& standing) {
  return standing.by_stack && standing.within.empty();
}

std::optional<Stuck> all_stuck(const GangNow& gang) {
  Stuck stuck;
  for (std::size_t i = 0; i < gang.size(); ++i) {
    const RankNow& one = gang[i];
    const int rank = static_cast<int>(i);
    if (one.standing == nullptr) return std::nullopt;
    if (one.role == Role::ended)
      (one.standing->exit_code == 0 ? stuck.left : stuck.failed).push_back(rank);
    else if (one.is_lost)
      stuck.lost.push_back(rank);
    else if (!is_stuck(one.role))
      return std::nullopt;
    if (!is_live(one)) continue;
    stuck.live.push_back(rank);
    if (one.role == Role::stopped)
      stuck.stopped.push_back(rank);
    else if (one.role == Role::locked)
      stuck.locked.push_back(rank);
    else
      stuck.waiting.push_back(rank);
    if (one.role == Role::waits && !is_surely_still(*one.standing)) stuck.surely = false;
    if (one.role == Role::waits && waits_in_own_code(*one.standing)) stuck.for_ranks = false;
    if (one.role == Role::waits_gpu || one.role == Role::on_gpu) stuck.only_peers = false;
  }
  if (stuck.live.empty()) return std::nullopt;
  return stuck;
}

using Counts = std::map<std::pair<std::string, std::string>, std::map<int, std::int64_t>>;

Counts counts_of(const GangNow& gang, const Ranks& live) {
  Counts counts;
  for (const int rank : live) {
    const RankStanding& standing = *gang[static_cast<std::size_t>(rank)].standing;
    for (const CollectiveCount& one : standing.collectives)
      counts[{one.communicator, one.name}][rank] = one.count;
  }
  return counts;
}

// Of ranks whose counts of one collective differ, the smaller group; if both are equal, the group
// that lags. A rank that lags and waits for its own GPU may still launch the collective.
std::optional<Evidence> unequal_counts(const GangNow& gang, const Stuck& stuck, Duration lasting) {
  for (const auto& [which, by_rank] : counts_of(gang, stuck.live)) {
    std::map<std::int64_t, Ranks> sides;
    for (const auto& [rank, count] : by_rank) sides[count].push_back(rank);
    if (sides.size() < 2) continue;
    const bool may_follow =
        std::any_of(sides.begin(), std::prev(sides.end()), [&](const auto& side) {
          return std::any_of(side.second.begin(), side.second.end(), [&](int rank) {
            return gang[static_cast<std::size_t>(rank)].role == Role::on_gpu;
          });
        });
    if (may_follow) continue;
    const auto smaller = std::min_element(sides.begin(), sides.end(), [](auto& a, auto& b) {
      return a.second.size() < b.second.size();
    });
    const auto larger = std::max_element(sides.begin(), sides.end(), [](auto& a, auto& b) {
      return a.second.size() < b.second.size();
    });
    const auto other = larger == smaller ? std::next(smaller) : larger;
    Ranks waiting;
    for (const int rank : stuck.waiting)
      if (!std::binary_search(smaller->second.begin(), smaller->second.end(), rank))
        waiting.push_back(rank);
    Evidence evidence =
        evidence_of(FoundKind::unequal_counts, gang, smaller->second, waiting, lasting);
    evidence.found.fact = which.second;
    evidence.found.here = smaller->first;
    evidence.found.elsewhere = other->first;
    evidence.counted = Instant::never();
    for (const auto& [rank, count] : by_rank)
      evidence.counted =
          std::min(evidence.counted, gang[static_cast<std::size_t>(rank)].standing->counted);
    evidence.may_hang = evidence.is_hidden = true;
    return evidence;
  }
  return std::nullopt;
}

// "MPI_Barrier" or "barrier and all_reduce": the calls of the ranks, in this order.
std::string calls_of(const GangNow& gang, const Ranks& ranks) {
  constexpr std::size_t kMostCalls = 3;
  std::vector<std::string_view> calls;
  for (const int rank : ranks) {
    const std::string& call = gang[static_cast<std::size_t>(rank)].standing->within;
    const bool is_known = std::find(calls.begin(), calls.end(), call) != calls.end();
    if (!call.empty() && !is_known && calls.size() < kMostCalls) calls.push_back(call);
  }
  return cut(fmt::format("{}", fmt::join(calls, " and ")), kMaxFoundTextBytes - 4);
}

// The evidence if every live rank waits for a peer of the gang: some of them must wait in a cycle.
std::optional<Evidence> circle_of_all(const GangNow& gang, const Stuck& stuck, Duration lasting) {
  if (!stuck.only_peers || stuck.live.size() < 2) return std::nullopt;
  Ranks named = stuck.live;
  put_odd_first(gang, named);
  Evidence evidence = evidence_of(FoundKind::cycle, gang, named, {}, lasting);
  Ranks rest(named.begin() + static_cast<std::ptrdiff_t>(evidence.found.ranks.size()), named.end());
  std::sort(rest.begin(), rest.end());
  evidence.found.waiting = first_of(rest, kMaxFoundWaiting);
  evidence.found.fact = calls_of(gang, named);
  evidence.may_hang = evidence.is_hidden = stuck.surely && stuck.for_ranks;
  if (!evidence.may_hang) evidence.found.verdict = FoundVerdict::waits;
  return evidence;
}

// ---- some wait ----------------------------------------------------------------------------------

// The order in which ranks that do not wait are named.
int order_of(Role role) {
  switch (role) {
    case Role::stopped: return 0;
    case Role::locked: return 1;
    case Role::device: return 2;
    case Role::acts: return 3;
    case Role::on_gpu: return 4;
    case Role::moves: return 5;
    case Role::waits:
    case Role::waits_gpu:
    case Role::ended:
    case Role::unknown: break;
  }
  return 6;
}

}  // namespace

FoundRank found_rank(const RankStanding& standing) {
  FoundRank found;
  found.rank = standing.rank;
  found.node_rank = standing.node_rank;
  found.doing = std::string(to_string(standing.doing));
  found.call = standing.call;
  found.on = standing.on;
  found.at = standing.at.empty() ? standing.within : standing.at;
  found.cpu_milli = standing.cpu_milli;
  return found;
}

std::vector<FoundRank> found_ranks(const GangNow& gang, const std::vector<int>& ranks) {
  std::vector<FoundRank> found;
  for (const int rank : first_of(ranks, kMaxFoundRanks))
    found.push_back(found_rank(*gang[static_cast<std::size_t>(rank)].standing));
  return found;
}

std::optional<Evidence> nobody_goes_on(const GangNow& gang, Duration after) {
  const auto stuck = all_stuck(gang);
  if (!stuck) return std::nullopt;
  Ranks all = stuck->live;
  for (const Ranks* const ended : {&stuck->left, &stuck->failed})
    all.insert(all.end(), ended->begin(), ended->end());
  const Duration lasting = shortest_still(gang, all);  // the time since the last of all ranks moved
  const bool is_long = lasting >= after;
  const bool any_waits = !stuck->waiting.empty();
  if (!stuck->stopped.empty()) {
    if (lasting < kSayStoppedAfter) return std::nullopt;
    Evidence evidence =
        evidence_of(FoundKind::stopped, gang, stuck->stopped, stuck->waiting, lasting);
    evidence.may_hang = is_long && any_waits;
    return evidence;
  }
  const Ranks& gone = !stuck->lost.empty()   ? stuck->lost
                      : !stuck->left.empty() ? stuck->left
                                             : stuck->failed;
  if (!gone.empty() && any_waits) {
    const bool has_left = &gone == &stuck->left;
    if (has_left && !stuck->for_ranks) return std::nullopt;
    if (lasting < kSayLeftAfter || (!has_left && !is_long)) return std::nullopt;
    Evidence evidence = evidence_of(has_left ? FoundKind::left_early : FoundKind::peer_gone, gang,
                                    gone, stuck->waiting, lasting);
    evidence.may_hang = is_long && stuck->only_peers;
    return evidence;
  }
  if (!is_long) return std::nullopt;
  if (!stuck->locked.empty()) {
    Evidence evidence = evidence_of(FoundKind::cycle, gang, stuck->locked, stuck->waiting, lasting);
    evidence.found.fact = "lock";
    evidence.found.about = FoundAbout::lock;
    evidence.may_hang = evidence.is_hidden = any_waits;
    evidence.needs_stacks = true;
    return evidence;
  }
  if (auto evidence = unequal_counts(gang, *stuck, lasting)) return evidence;
  return circle_of_all(gang, *stuck, lasting);
}

std::optional<Evidence> some_wait(const GangNow& gang, Duration after) {
  Ranks waiting, others;
  std::size_t live = 0;
  for (std::size_t i = 0; i < gang.size(); ++i) {
    const RankNow& one = gang[i];
    if (one.standing == nullptr || !is_live(one)) continue;
    ++live;
    if (!is_waiting(one.role))
      others.push_back(static_cast<int>(i));
    else if (one.still >= after)
      waiting.push_back(static_cast<int>(i));
  }
  const bool is_few = others.size() <= kMaxFoundRanks || others.size() <= live / 2;
  if (waiting.empty() || others.empty() || !is_few) return std::nullopt;
  std::stable_sort(others.begin(), others.end(), [&](int a, int b) {
    return order_of(gang[static_cast<std::size_t>(a)].role) <
           order_of(gang[static_cast<std::size_t>(b)].role);
  });
  const bool all_in_device = std::all_of(others.begin(), others.end(), [&](int rank) {
    return gang[static_cast<std::size_t>(rank)].role == Role::device;
  });
  Evidence evidence = evidence_of(all_in_device ? FoundKind::device_wait : FoundKind::waits, gang,
                                  others, waiting, shortest_still(gang, waiting));
  evidence.found.verdict = FoundVerdict::waits;
  evidence.needs_stacks = true;
  return evidence;
}

std::optional<Evidence> some_lag(const GangNow& gang, Duration after) {
  const auto waits = [&](int rank) {
    const RankNow& one = gang[static_cast<std::size_t>(rank)];
    return (is_waiting(one.role) || one.role == Role::on_gpu) && one.still >= after;
  };
  const Ranks live = ranks_where(gang, is_live);
  if (std::none_of(live.begin(), live.end(), waits)) return std::nullopt;
  for (const auto& [which, by_rank] : counts_of(gang, live)) {
    const auto ahead = std::max_element(by_rank.begin(), by_rank.end(),
                                        [](auto& a, auto& b) { return a.second < b.second; });
    Ranks named, waiting;
    for (const auto& [rank, count] : by_rank)
      (count < ahead->second ? named : waiting).push_back(rank);
    if (named.empty() || named.size() > std::max(kMaxFoundRanks, by_rank.size() / 2)) continue;
    if (!std::all_of(waiting.begin(), waiting.end(), waits)) continue;
    Evidence evidence =
        evidence_of(FoundKind::waits, gang, named, waiting, shortest_still(gang, waiting));
    evidence.found.verdict = FoundVerdict::waits;
    evidence.found.fact = which.second;
    evidence.found.here = by_rank.at(named.front());
    evidence.found.elsewhere = ahead->second;
    evidence.needs_stacks = true;
    return evidence;
  }
  return std::nullopt;
}

std::optional<Evidence> missed_fence(const GangNow& gang, Duration after) {
  std::int64_t entered = 0;
  for (const RankNow& one : gang)
    if (one.standing != nullptr && is_live(one) && one.standing->in_fence &&
        one.role != Role::moves)
      entered = std::max(entered, one.standing->fences);
  if (entered == 0) return std::nullopt;
  const Ranks inside = ranks_where(gang, [&](const RankNow& one) {
    return is_live(one) && one.role != Role::moves && one.standing->in_fence &&
           one.standing->fences == entered;
  });
  const Ranks outside = ranks_where(gang, [&](const RankNow& one) {
    const bool is_finished = one.standing->finalized || one.role == Role::ended;
    return is_finished && !one.standing->in_fence && one.standing->fences < entered;
  });
  const Duration lasting = shortest_still(gang, inside);
  if (inside.empty() || outside.empty() || lasting < kSayFenceAfter) return std::nullopt;
  Evidence evidence = evidence_of(FoundKind::missed_fence, gang, outside, inside, lasting);
  evidence.may_hang = lasting >= after;
  evidence.look_at = inside;
  return evidence;
}

}  // namespace lockstep::runner
