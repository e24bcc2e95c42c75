#include "common/transfer/fetch_plan.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/check.h"

namespace lockstep::transfer {
namespace {

// Mixes two numbers with splitmix64's finalizer (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15 + b;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

bool has(const FetchPlan::Peer& peer, std::size_t unit) {
  return unit < peer.have.size() && peer.have[unit];
}

}  // namespace

FetchPlan::FetchPlan(std::vector<bool> here, Instant now, Limits limits)
    : limits_(limits), last_progress_(now), progress_(now) {
  for (const bool is_here : here) {
    units_.push_back(is_here ? Unit::here : Unit::lacking);
    lacking_ += is_here ? 0 : 1;
  }
}

void FetchPlan::told(const FindPeersReply& reply, Instant now) {
  self_ = reply.self;
  core_ = reply.core;
  for (const BlobPeer& who : reply.peers) {
    if (who.node == kLauncher || who.node == self_) continue;
    const auto [at, is_new] = peers_.try_emplace(who.node);
    Peer& peer = at->second;
    const bool moved = peer.who.endpoint != who.endpoint || peer.who.key != who.key;
    if (!is_new && (moved || !peer.fault.empty())) continue;
    peer.who = who;
    if (!is_new) continue;
    peer.fetching = who.fetching;
    peer.ask_at = now;
  }
}

void FetchPlan::heard(NodeId id, const UnitsReply& reply, Instant now) {
  const auto found = peers_.find(id);
  if (found == peers_.end() || !found->second.fault.empty()) return;
  Peer& peer = found->second;
  source(id).heard = now;
  peer.is_asked = false;
  peer.ask_at = now + limits_.ask_every;
  if (reply.done_bytes > peer.done_bytes || (reply.whole && !peer.whole)) progressed(now);
  peer.done_bytes = std::max(peer.done_bytes, reply.done_bytes);
  peer.fetching = reply.fetching && !reply.whole;
  if (reply.whole == peer.whole && reply.whole) return;
  peer.whole = reply.whole;
  peer.have.assign(units_.size(), reply.whole);
  for (std::size_t unit = 0; !reply.whole && unit < units_.size(); ++unit) {
    if (unit / 8 >= reply.have.size()) break;
    peer.have[unit] = (static_cast<unsigned char>(reply.have[unit / 8]) >> unit % 8 & 1) != 0;
  }
}

void FetchPlan::arrived(NodeId from, std::uint64_t bytes, Instant now) {
  source(from).heard = now;
  progressed(now);
  if (from == kLauncher) from_launcher_ += bytes;
  if (const auto found = peers_.find(from); found != peers_.end())
    found->second.given_bytes += bytes;
}

void FetchPlan::finished(std::size_t unit, Instant now) {
  progressed(now);
  for (auto& [id, from] : sources_) open_ -= from.open.erase(unit);
  if (units_[unit] == Unit::here) return;
  units_[unit] = Unit::here;
  --lacking_;
}

void FetchPlan::give_back(Source& from, std::size_t unit) {
  if (from.open.erase(unit) == 0) return;
  --open_;
  if (units_[unit] == Unit::open) units_[unit] = Unit::lacking;
}

void FetchPlan::busy(NodeId id, std::size_t unit, Instant now) {
  Source& from = source(id);
  give_back(from, unit);
  from.heard = now;
  // Retries are spread, so that requests that were refused together do not come back together.
  const auto step = static_cast<std::uint64_t>(limits_.busy_at_least.count());
  const std::uint64_t extra = mix(self_.value ^ id.value << 20, unit + 1) % (step * 2 + 1);
  from.busy_until = now + limits_.busy_at_least + Duration(static_cast<std::int64_t>(extra));
}

void FetchPlan::lacking(NodeId id, std::size_t unit, Instant now) {
  Source& from = source(id);
  give_back(from, unit);
  from.heard = now;
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  Peer& peer = found->second;
  if (unit < peer.have.size()) peer.have[unit] = false;
  peer.whole = false;
  if (++peer.strikes >= limits_.strikes)
    drop(id, "it announced parts that it does not have", false);
}

void FetchPlan::drop(NodeId id, std::string fault, bool gave_wrong_data) {
  const auto found = peers_.find(id);
  if (found == peers_.end() || !found->second.fault.empty()) return;
  found->second.fault = std::move(fault);
  found->second.gave_wrong_data = gave_wrong_data;
  found->second.have.clear();
  Source& from = source(id);
  while (!from.open.empty()) give_back(from, *from.open.begin());
}

void FetchPlan::close_launcher(Instant now) {
  limits_.open_at_launcher = 0;
  Source& from = source(kLauncher);
  while (!from.open.empty()) give_back(from, *from.open.begin());
  progressed(now);
}

void FetchPlan::woke(Instant now) {
  for (auto& [id, from] : sources_) from.heard = now;
  progressed(now);
}

int FetchPlan::senders() const {
  return static_cast<int>(std::count_if(peers_.begin(), peers_.end(), [](const auto& peer) {
    return peer.second.given_bytes > 0 && peer.second.fault.empty();
  }));
}

std::vector<NodeId> FetchPlan::questions(Instant now) {
  std::vector<NodeId> asked;
  for (auto& [id, peer] : peers_) {
    if (!peer.fault.empty() || peer.whole || peer.is_asked || now < peer.ask_at) continue;
    peer.is_asked = true;
    if (source(id).open.empty()) source(id).heard = now;
    asked.push_back(id);
  }
  return asked;
}

std::vector<NodeId> FetchPlan::silent(Instant now) const {
  std::vector<NodeId> found;
  for (const auto& [id, peer] : peers_) {
    const auto at = sources_.find(id);
    if (!peer.fault.empty() || at == sources_.end()) continue;
    const bool owes = peer.is_asked || !at->second.open.empty();
    if (owes && now - at->second.heard >= limits_.timeout) found.push_back(id);
  }
  return found;
}

bool FetchPlan::is_ready(NodeId id, std::size_t most, Instant now) const {
  const auto found = sources_.find(id);
  if (found == sources_.end()) return most > 0;
  return found->second.open.size() < most && now >= found->second.busy_until;
}

// The peer with the fewest open requests; among equals, it depends on the node and the unit.
NodeId FetchPlan::peer_with(std::size_t unit, Instant now) const {
  NodeId best = kLauncher;
  std::pair<std::size_t, std::uint64_t> least;
  for (const auto& [id, peer] : peers_) {
    if (!peer.fault.empty() || !has(peer, unit) || !is_ready(id, limits_.open_at_peer, now))
      continue;
    const auto at = sources_.find(id);
    const std::pair load{at == sources_.end() ? 0 : at->second.open.size(),
                         mix(mix(self_.value, id.value), unit)};
    if (best != kLauncher && least <= load) continue;
    best = id;
    least = load;
  }
  return best;
}

bool FetchPlan::has_sources() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& at) {
    const Peer& peer = at.second;
    return peer.fault.empty() && (peer.whole || peer.fetching || peer.have.empty());
  });
}

// Rendezvous hashing over the core's nodes that fetch: if one leaves, only its own units move.
NodeId FetchPlan::home_of(std::size_t unit) const {
  NodeId home = self_;
  std::uint64_t highest = mix(unit, self_.value);
  for (const auto& [id, peer] : peers_) {
    if (!peer.fault.empty() || !peer.who.core || !peer.fetching) continue;
    const std::uint64_t value = mix(unit, id.value);
    if (value > highest) std::tie(home, highest) = std::pair(id, value);
  }
  return home;
}

bool FetchPlan::is_for_launcher(std::size_t unit, bool any_sources) const {
  if (!any_sources) return true;
  // A peer that should have the whole tree is waited for; it answers soon, or is dropped.
  const bool is_held = std::any_of(peers_.begin(), peers_.end(), [unit](const auto& at) {
    const Peer& peer = at.second;
    const bool is_unheard = peer.have.empty() && !peer.who.fetching;
    return peer.fault.empty() && (is_unheard || has(peer, unit));
  });
  return core_ && !is_held && home_of(unit) == self_;
}

void FetchPlan::open(NodeId from, std::size_t unit, Instant now) {
  Source& at = source(from);
  const auto peer = peers_.find(from);
  const bool owed = !at.open.empty() || (peer != peers_.end() && peer->second.is_asked);
  if (!owed) at.heard = now;
  at.open.insert(unit);
  units_[unit] = Unit::open;
  ++open_;
}

std::vector<FetchPlan::Ask> FetchPlan::next(Instant now) {
  std::vector<Ask> asks;
  if (now - progress_ >= limits_.timeout) {
    spare_ = std::min(spare_ + 1, limits_.open_at_launcher);
    progress_ = now;
  }
  const bool any_sources = has_sources();
  const std::size_t at_launcher = source(kLauncher).open.size();
  std::size_t spare = spare_ > at_launcher ? spare_ - at_launcher : 0;
  // Each node begins with another unit, so that it soon has what others lack.
  const std::size_t start = units_.empty() ? 0 : mix(self_.value, 0) % units_.size();
  for (std::size_t i = 0; i < units_.size() && open_ < limits_.open; ++i) {
    const std::size_t unit = (start + i) % units_.size();
    if (units_[unit] != Unit::lacking) continue;
    NodeId from = peer_with(unit, now);
    if (from == kLauncher) {
      if (!is_ready(kLauncher, limits_.open_at_launcher, now)) continue;
      const bool is_ours = is_for_launcher(unit, any_sources);
      if (!is_ours && spare == 0) continue;
      if (!is_ours) --spare;
    }
    open(from, unit, now);
    asks.push_back({from, unit});
  }
  return asks;
}

}  // namespace lockstep::transfer
