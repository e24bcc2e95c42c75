#include "runner/watch/compare/telling.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep::runner {
namespace {

// Converts times from the sender's clock to ours.
void move_times(RankStanding& standing, Duration ahead) {
  for (Instant* const time : {&standing.stack_at, &standing.taken, &standing.since,
                              &standing.doing_since, &standing.counted, &standing.counts_since})
    if (time->ns != 0 && *time != Instant::never()) *time = std::max(*time + ahead, Instant{1});
}

bool is_asked(const GangLook& look, int rank) {
  return look.all || std::find(look.ranks.begin(), look.ranks.end(), rank) != look.ranks.end();
}

// Removes and returns the first `most`.
template <typename Key, typename Value>
std::vector<Value> take_first(std::map<Key, Value>& from, std::size_t most) {
  std::vector<Value> taken;
  while (!from.empty() && taken.size() < most) {
    taken.push_back(std::move(from.begin()->second));
    from.erase(from.begin());
  }
  return taken;
}

}  // namespace

// The details of a rank that may go on change often, and are requested only when needed.
std::string class_of(const RankStanding& s) {
  const Role role = role_of(s);
  const bool may_go_on = role == Role::moves || role == Role::acts;
  const bool has_not_met = !s.has_met.value_or(true);
  const std::string text =
      fmt::format("{} {} {} {} {} {} {} {}/{}/{}", may_go_on ? "goes on" : to_string(s.doing),
                  has_not_met, s.finalized, s.fences, s.in_fence, s.claims, s.exit_code,
                  s.versions.mpi, s.versions.nccl, s.versions.torch);
  if (may_go_on) return text + (has_not_met ? " " + s.call : "");
  if (role == Role::ended) return text;
  return text + fmt::format(" {} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(role), s.call,
                            s.on, s.own_end, s.at, s.within, s.by_stack,
                            s.unacked > 0 && s.retransmits > 0, s.unacked_by, s.since.ns,
                            s.doing_since.ns);
}

// ---- what comes ---------------------------------------------------------------------------------

void Telling::note(Instant now) {
  if (flush_at_ == Instant::never()) flush_at_ = has_children_ ? now + kGatherFor : now;
}

// Moves the times forward by pauses of the machine, unless the sampler has moved `since` by them.
void Telling::forgive(Own& own, RankStanding& standing) const {
  const bool is_known = std::exchange(own.raw_since, standing.since) == standing.since;
  if (!is_known)
    own.forgiven = Duration::zero();
  else if (standing.window > kLongestSample)
    own.forgiven += standing.window - kWatchEvery;
  if (own.forgiven == Duration::zero()) return;
  standing.since = std::min(standing.since + own.forgiven, standing.taken);
  standing.doing_since = std::min(standing.doing_since + own.forgiven, standing.taken);
}

void Telling::answer(Instant now, const RankStanding& standing) {
  for (auto& [id, open] : open_) {
    if (!is_asked(open.look, standing.rank) || standing.taken < open.asked) continue;
    const bool has_stack = standing.by_stack && standing.stack_at >= open.asked;
    if (open.look.stacks && !has_stack && now - open.asked < kStackWithin) continue;
    if (!open.answered.insert(standing.rank).second) continue;
    seen_[id][standing.rank] = standing;
    note(now);
  }
}

void Telling::sampled(Instant now, const RankStandings& standings) {
  meter_.add(standings);
  for (const RankStanding& sampled : standings) {
    RankStanding standing = sampled;
    Own& own = own_[standing.rank];
    forgive(own, standing);
    answer(now, standing);
    std::string now_of = class_of(standing);
    if (now_of == own.told) continue;
    own.told = std::move(now_of);
    changed_[standing.rank] = std::move(standing);
    note(now);
  }
  for (RankPace& pace : meter_.take()) {
    paces_[pace.rank] = std::move(pace);
    note(now);
  }
}

void Telling::put(std::map<int, RankStanding>& into, RankStanding standing, Duration ahead) {
  if (into.size() >= kMaxWatchedRanks && into.count(standing.rank) == 0) return;
  move_times(standing, ahead);
  into[standing.rank] = std::move(standing);
}

void Telling::take(Instant now, const GangStandings& below) {
  for (const RankStanding& standing : below.standings) put(changed_, standing, now - below.now);
  for (const RankPace& pace : below.paces) paces_[pace.rank] = pace;
  lost_.insert(below.lost.begin(), below.lost.end());
  note(now);
}

void Telling::take(Instant now, const GangSeen& below) {
  for (const RankStanding& standing : below.standings)
    put(seen_[below.id], standing, now - below.now);
  while (seen_.size() > kMaxOpenLooks) seen_.erase(seen_.begin());
  note(now);
}

void Telling::look(Instant now, const GangLook& look) {
  open_[look.id] = Open{look, now, {}};
  while (open_.size() > kMaxOpenLooks) open_.erase(open_.begin());
}

void Telling::lost(Instant now, int node_rank) {
  lost_.insert(node_rank);
  note(now);
}

std::set<int> Telling::wanted_stacks() const {
  std::set<int> wanted;
  for (const auto& [id, open] : open_) {
    if (!open.look.stacks) continue;
    for (const auto& [rank, own] : own_)
      if (is_asked(open.look, rank) && open.answered.count(rank) == 0) wanted.insert(rank);
  }
  return wanted;
}

// ---- what goes ----------------------------------------------------------------------------------

std::vector<GangMessage> Telling::standings(Instant now) {
  std::vector<GangMessage> messages;
  while (!changed_.empty() || !paces_.empty() || !lost_.empty()) {
    GangStandings message;
    message.now = now;
    message.standings = take_first(changed_, kMaxStandingsOfMessage);
    message.paces = take_first(paces_, kMaxStandingsOfMessage);
    message.lost.assign(lost_.begin(), lost_.end());
    lost_.clear();
    messages.emplace_back(std::move(message));
  }
  return messages;
}

std::vector<GangMessage> Telling::answers(Instant now) {
  std::vector<GangMessage> messages;
  for (auto& [id, standings] : seen_)
    while (!standings.empty()) {
      GangSeen message;
      message.id = id;
      message.now = now;
      message.standings = take_first(standings, kMaxStandingsOfMessage);
      messages.emplace_back(std::move(message));
    }
  seen_.clear();
  return messages;
}

std::vector<GangMessage> Telling::due(Instant now) {
  if (now < flush_at_) return {};
  flush_at_ = Instant::never();
  std::vector<GangMessage> messages = standings(now);
  for (GangMessage& message : answers(now)) messages.push_back(std::move(message));
  return messages;
}

}  // namespace lockstep::runner
