#include "runner/watch/compare/comparison.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace lockstep::runner {
namespace {

// Calls f with each time that the standing has.
template <typename F>
void each_time(RankStanding& standing, F f) {
  for (Instant* const time : {&standing.stack_at, &standing.taken, &standing.since,
                              &standing.doing_since, &standing.counted, &standing.counts_since})
    if (time->ns != 0 && *time != Instant::never()) f(*time);
}

int weight_of(FoundVerdict verdict) { return -static_cast<int>(verdict); }

std::vector<int> numbers_in(const Found& found) {
  std::vector<int> ranks;
  for (const FoundRank& rank : found.ranks) ranks.push_back(rank.rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool names_all_of(const Found& found, const Found& other) {
  const std::vector<int> all = numbers_in(found), these = numbers_in(other);
  return std::includes(all.begin(), all.end(), these.begin(), these.end());
}

// Whether all ranks that wait are in the cycle.
bool wait_in(const Found& found, const Found& cycle) {
  const std::vector<int> ranks = numbers_in(cycle);
  return found.kind == FoundKind::waits &&
         std::includes(ranks.begin(), ranks.end(), found.waiting.begin(), found.waiting.end());
}

// Whether the ranks that are waited for have not met the others yet; there is a notice for that
// case.
bool waits_for_late(const GangNow& gang, const Found& found) {
  return found.kind == FoundKind::waits &&
         std::all_of(found.ranks.begin(), found.ranks.end(), [&](const FoundRank& rank) {
           return !gang[static_cast<std::size_t>(rank.rank)].standing->has_met.value_or(true);
         });
}

bool is_of_gone(FoundKind kind) {
  return kind == FoundKind::left_early || kind == FoundKind::peer_gone ||
         kind == FoundKind::stopped;
}

auto words_of(const FoundRank& rank) {
  return std::tie(rank.rank, rank.node_rank, rank.doing, rank.call, rank.on, rank.at);
}

}  // namespace

bool says_same(const FoundList& a, const FoundList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Found& x, const Found& y) {
    return x.kind == y.kind && x.verdict == y.verdict && x.waiting == y.waiting &&
           x.fact == y.fact && x.about == y.about &&
           std::equal(x.ranks.begin(), x.ranks.end(), y.ranks.begin(), y.ranks.end(),
                      [](const auto& p, const auto& q) { return words_of(p) == words_of(q); });
  });
}

Comparison::Comparison(HangPolicy policy, GangShape shape)
    : policy_(policy),
      shape_(std::move(shape)),
      standings_(static_cast<std::size_t>(shape_.ranks)),
      paces_(shape_.ranks) {
  first_.heard.assign(standings_.size(), Instant::never());
}

// ---- what nodes tell ----------------------------------------------------------------------------

void Comparison::put(Instant now, Instant theirs, RankStanding standing) {
  if (standing.rank < 0 || static_cast<std::size_t>(standing.rank) >= standings_.size()) return;
  const Duration ahead = now - theirs;
  each_time(standing, [&](Instant& time) { time = std::clamp(time + ahead, Instant{1}, now); });
  const auto place = static_cast<std::size_t>(standing.rank);
  first_.heard[place] = std::min(first_.heard[place], now);
  if (standing.has_met.value_or(false)) first_.met = std::min(first_.met, now);
  lost_.erase(standing.node_rank);
  auto& known = standings_[place];
  if (known && standing.collectives.empty()) {
    standing.collectives = std::move(known->collectives);
    standing.counted = known->counted;
    standing.counts_since = known->counts_since;
  }
  known = std::move(standing);
}

void Comparison::take_counts(Instant now,
                             const std::map<int, std::vector<CollectiveCount>>& counts) {
  for (const auto& [rank, list] : counts) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= standings_.size()) continue;
    auto& standing = standings_[static_cast<std::size_t>(rank)];
    if (!standing) continue;
    const bool is_first = standing->counted.ns == 0;
    standing->counted = now;
    if (!is_first && standing->collectives == list) continue;
    standing->collectives = list;
    standing->counts_since = is_first ? standing->since : now;
  }
}

bool Comparison::wants_counts(Instant now) {
  if (!may_use_nccl_ || now - counted_ < kCountEvery) return false;
  counted_ = now;
  return true;
}

void Comparison::take(Instant now, const GangStandings& told) {
  for (const RankStanding& standing : told.standings) put(now, told.now, standing);
  for (const RankPace& pace : told.paces) paces_.take(now, pace);
  lost_.insert(told.lost.begin(), told.lost.end());
}

void Comparison::take(Instant now, const GangSeen& seen) {
  for (const RankStanding& standing : seen.standings) {
    put(now, seen.now, standing);
    if (question_ && question_->look.id == seen.id) question_->missing.erase(standing.rank);
  }
}

void Comparison::node_done(Instant now, int node_rank, int first, int count) {
  for (int rank = std::max(first, 0); rank < first + count; ++rank) {
    if (static_cast<std::size_t>(rank) >= standings_.size()) return;
    auto& standing = standings_[static_cast<std::size_t>(rank)];
    if (!standing) standing.emplace();
    if (standing->doing == Doing::exited) continue;
    standing->rank = rank;
    standing->node_rank = node_rank;
    standing->doing = Doing::exited;
    standing->exit_code = 0;
    standing->in_fence = false;
    standing->taken = standing->doing_since = now;
  }
}

// ---- what holds now -----------------------------------------------------------------------------

void Comparison::skip_away_time(Instant now) {
  const Instant before = std::exchange(looked_, now);
  if (before.ns == 0 || now - before <= kAwayAfter) return;
  const Duration away = now - before;
  const auto move = [&](Instant& time) {
    if (time.ns != 0 && time != Instant::never()) time = std::min(time + away, now);
  };
  for (auto& standing : standings_)
    if (standing) each_time(*standing, move);
  for (Instant& time : first_.heard) move(time);
  move(first_.met);
  cases_.clear();
  question_.reset();
}

GangNow Comparison::gang_at(Instant now) const {
  GangNow gang(standings_.size());
  for (std::size_t i = 0; i < standings_.size(); ++i) {
    if (!standings_[i]) continue;
    RankNow& one = gang[i];
    one.standing = &*standings_[i];
    one.role = role_of(*one.standing);
    one.still = still_for(*one.standing, one.role, now);
    // A count that has grown shows movement that the rank's own node does not see.
    if (!one.standing->collectives.empty() && now > one.standing->counts_since)
      one.still = std::min<Duration>(one.still, now - one.standing->counts_since);
    one.is_lost = lost_.count(one.standing->node_rank) != 0;
  }
  return gang;
}

// The evidence about the gang; of several explanations for the same ranks, the most specific one.
EvidenceList Comparison::evidence_in(const GangNow& gang, Instant now) {
  auto main = nobody_goes_on(gang, policy_.after);
  if (!main) main = some_wait(gang, policy_.after);
  if (!main) main = some_lag(gang, policy_.after);
  EvidenceList list = unreachable_peers(gang, shape_, policy_.after);
  auto fence = missed_fence(gang, policy_.after);
  if (fence && main && is_of_gone(main->found.kind)) fence.reset();
  const bool is_circle = main && (main->found.kind == FoundKind::cycle ||
                                  main->found.kind == FoundKind::unequal_counts);
  if (is_circle && main->found.about != FoundAbout::lock && (fence || !list.empty())) main.reset();
  if (!is_circle)
    for (Evidence& cycle : wait_cycles(gang, shape_, policy_.after)) {
      if (main && wait_in(main->found, cycle.found)) main.reset();
      list.push_back(std::move(cycle));
    }
  if (fence) list.push_back(*std::move(fence));
  if (main && waits_for_late(gang, main->found)) main.reset();
  for (Evidence& notice : notices(gang, shape_, first_, policy_.after, now))
    if (!is_circle || notice.found.kind != FoundKind::cycle) list.push_back(std::move(notice));
  for (Evidence& slow : paces_.slow(gang, now))
    if (!main || !names_all_of(main->found, slow.found)) list.push_back(std::move(slow));
  if (main) list.insert(list.begin(), *std::move(main));
  return list;
}

// The key of a case. A cycle of the whole gang is one case, whichever rank is named first.
Comparison::Key Comparison::key_of(const Evidence& evidence) {
  const bool is_of_all = evidence.is_hidden && evidence.look_at.empty();
  return {evidence.found.kind, is_of_all ? std::vector<int>{} : numbers_in(evidence.found)};
}

void Comparison::update_cases(EvidenceList evidence, Instant now) {
  std::map<Key, Case> cases;
  for (Evidence& one : evidence) {
    const Key key = key_of(one);
    if (cases.count(key) != 0) continue;
    const auto known = cases_.find(key);
    Case& kept = cases[key];
    if (known != cases_.end())
      kept = std::move(known->second);
    else
      kept.first = now;
    if (!one.may_hang) kept.confirmed = 0;
    kept.evidence = std::move(one);
  }
  // While a hang is not certain, the earlier finding about the wait stays.
  const bool is_unsure = std::any_of(cases.begin(), cases.end(), [](const auto& each) {
    return each.second.evidence.is_hidden && each.second.confirmed < kLooksForHang;
  });
  for (auto& [key, one] : cases_)
    if (is_unsure && one.said && one.evidence.found.kind == FoundKind::waits)
      cases.try_emplace(key, std::move(one));
  cases_ = std::move(cases);
}

// Whether a finding is due. One about ranks is reported when their stacks are known, and a hang
// after two looks.
bool Comparison::is_due(const Case& one, Instant now) const {
  if (one.evidence.is_hidden && one.confirmed < kLooksForHang) return false;
  if (one.said || !one.evidence.needs_stacks) return true;
  return one.named.ns != 0 || now - one.first >= kNameWithin;
}

// The finding of a case. While the verdict stays the same, its time, fact and places stay as they
// were reported, until they are requested again.
Found Comparison::say(Case& one, Instant now) const {
  Found found = one.evidence.found;
  if (one.evidence.may_hang && one.confirmed >= kLooksForHang) found.verdict = FoundVerdict::hangs;
  found.since = now - found.lasting;
  if (one.said && one.said->verdict == found.verdict) {
    found.lasting = one.said->lasting;
    found.since = one.said->since;
    found.fact = one.said->fact;
    found.here = one.said->here;
    found.elsewhere = one.said->elsewhere;
    if (one.said_named == one.named) found.ranks = one.said->ranks;
  }
  one.said_named = one.named;
  one.said = found;
  return found;
}

FoundList Comparison::look(Instant now) {
  skip_away_time(now);
  const GangNow gang = gang_at(now);
  may_use_nccl_ = std::any_of(gang.begin(), gang.end(), [&](const RankNow& one) {
    const bool is_of_nccl = one.role == Role::waits_gpu || one.role == Role::on_gpu ||
                            (one.role == Role::waits && one.standing->within.empty());
    return is_of_nccl && still_for(*one.standing, one.role, now) >= policy_.after / 2;
  });
  update_cases(evidence_in(gang, now), now);
  settle_question(gang, now);
  FoundList list;
  for (auto& [key, one] : cases_)
    if (is_due(one, now)) list.push_back(say(one, now));
  std::stable_sort(list.begin(), list.end(), [](const Found& a, const Found& b) {
    return weight_of(a.verdict) < weight_of(b.verdict);
  });
  if (list.size() > kMaxFound) list.resize(kMaxFound);
  choose_question(gang, now);
  return list;
}

}  // namespace lockstep::runner
