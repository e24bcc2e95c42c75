#include "runner/watch/rank_watch.h"

#include <time.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "runner/watch/proc/loaded_versions.h"

namespace lockstep::runner {
namespace {

constexpr int kSlowEvery = 6;          // how many samples there are for each slow reading
constexpr int kVersionsPerSample = 4;  // ranks for which one sample reads versions
// The times at which versions are read again, since libraries may be loaded late.
constexpr Duration kVersionsAfter[] = {seconds(60), minutes(5)};
// The part of one cpu's time that reading the sockets may take, for each rank.
constexpr int kSocketsShare = 2'000;
constexpr Duration kSocketsAtLeastEvery = seconds(30);
constexpr Duration kStackAnswerWithin = minutes(5);

Duration cpu_time_here() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return seconds(spent.tv_sec) + Duration(spent.tv_nsec);
}

}  // namespace

RankWatch::Rank& RankWatch::rank_of(int rank, Instant now) {
  const auto [found, is_new] = ranks_.try_emplace(rank, rank);
  if (is_new) found->second.first_seen = now;
  return found->second;
}

WatchResult RankWatch::sample(Instant now, const WatchLook& look) {
  const Duration before = cpu_time_here();
  WatchResult result;
  result.taken = now;
  versions_left_ = kVersionsPerSample;
  std::vector<RankReader::Request> requests;
  for (const RankFacts& facts : look.ranks)
    if (facts.lives && facts.pid > 0) requests.push_back({facts.rank, facts.pid, facts.cgroup});
  reader_.begin(look.place, requests);
  is_fresh_ = false;
  if (!requests.empty()) read_sockets(now, look, &result);
  for (const RankFacts& facts : look.ranks) {
    look_at(now, facts, look);
    Rank& one = rank_of(facts.rank, now);
    want_stack(now, look, facts.rank, one, &result);
    result.standings.push_back(one.track.standing());
  }
  result.cpu_time = cpu_time_here() - before;
  return result;
}

// Reads the sockets, less often than the rest: a node may have many sockets of other programs.
void RankWatch::read_sockets(Instant now, const WatchLook& look, WatchResult* result) {
  const int pid = reader_.any_pid();
  if (now < read_sockets_at_ || pid <= 0) return;
  const Duration before = cpu_time_here();
  auto sockets = sockets_.read(pid);
  if (!sockets) {
    result->unseen = sockets.error().message;
    read_sockets_at_ = now + kSocketsAtLeastEvery;
    return;
  }
  table_.emplace(*std::move(sockets), look.peers);
  is_fresh_ = true;
  if (owners_.wants_look(*table_)) reader_.find_owners(owners_);
  owners_.settle(*table_);
  peers_ = peers_by_rank(*table_, owners_);
  claims_ = claims_by_rank(*table_, owners_);
  at_store_ = ranks_at_store(*table_, owners_);
  const auto ranks = static_cast<int>(look.ranks.size());
  const Duration cost = cpu_time_here() - before;
  read_sockets_at_ = now + std::min(kSocketsAtLeastEvery, cost * kSocketsShare / ranks);
}

void RankWatch::look_at(Instant now, const RankFacts& facts, const WatchLook& look) {
  Rank& one = rank_of(facts.rank, now);
  RankLook seen;
  if (facts.lives) {
    const SocketTable* const table = table_ ? &*table_ : nullptr;
    seen = reader_.look(facts.rank, one.track.wants_close_look(now), table, owners_);
    if (one.samples++ % kSlowEvery == 0) reader_.look_slowly(facts.rank, &seen);
    if (is_fresh_) {
      seen.peers = one.counter.count(peers_[facts.rank]);
      const auto claims = claims_.find(facts.rank);
      one.pmix_connections = claims == claims_.end() ? 0 : claims->second;
      one.at_store = one.at_store || at_store_.count(facts.rank) > 0;
    }
    seen.pmix_connections = one.pmix_connections;
    seen.at_store = one.at_store;
    read_versions_of(now, facts.rank, one);
  }
  seen.taken = now;
  one.track.take(seen, facts, look.node);
}

void RankWatch::read_versions_of(Instant now, int rank, Rank& one) {
  const auto times = static_cast<std::size_t>(one.versions_read);
  const int pid = reader_.pid_of(rank);
  if (times >= std::size(kVersionsAfter) || versions_left_ <= 0 || pid <= 0) return;
  if (now - one.first_seen < kVersionsAfter[times]) return;
  ++one.versions_read;
  --versions_left_;
  one.track.set_versions(read_versions(reader_.proc(), reader_.working_pid(rank)));
}

void RankWatch::want_stack(Instant now, const WatchLook& look, int rank, Rank& one,
                           WatchResult* result) {
  if (one.waits_for_stack && now - one.stack_asked < kStackAnswerWithin) return;
  one.waits_for_stack = false;
  const Doing doing = one.track.standing().doing;
  // A tool must not attach to these processes.
  if (doing == Doing::stopped || doing == Doing::device) return;
  const auto& ordered = look.stacks_now;
  const bool is_ordered = std::find(ordered.begin(), ordered.end(), rank) != ordered.end();
  if (!is_ordered && !one.track.wants_stack(now, look.stacks_after)) return;
  const int pid = reader_.process_of(rank, one.track.standing().pid);
  const auto process =
      pid > 0 ? traced_process(rank, pid, pid == reader_.pid_of(rank), reader_.proc().root())
              : std::nullopt;
  if (!process) return one.track.take_stack(std::nullopt, now);
  one.waits_for_stack = true;
  one.stack_asked = now;
  result->stacks_wanted.push_back(*process);
}

void RankWatch::take_stack(int rank, const std::optional<StackTop>& top, Instant at) {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return;
  found->second.waits_for_stack = false;
  found->second.track.take_stack(top, at);
}

void RankWatch::take_counts(int rank, std::vector<CollectiveCount> counts, Instant at) {
  const auto found = ranks_.find(rank);
  if (found != ranks_.end()) found->second.track.take_counts(std::move(counts), at);
}

}  // namespace lockstep::runner
