#include "launcher/daemon/blobs/peer_directory.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "common/domain/messages/agent_protocol.h"

namespace lockstep::launcher {
namespace {

constexpr Duration kTellAgainAfter = seconds(15);  // well below kPeerAllowedFor
constexpr std::size_t kMaxTold = 200'000;
constexpr std::size_t kMaxNamed = 200'000;

// The key includes the lock for trees of packages, so they differ from trees of the launcher's
// store. A node that presents another tree as its packages finds no peers.
Digest key_of_tree(const Digest& root, const std::optional<Digest>& lock) {
  return lock ? sha256(std::string(lock->view()) + std::string(root.view())) : root;
}

// Makes an order that differs between askers, and is always the same for one: splitmix64's
// finalizer.
std::uint64_t mix(NodeId asker, NodeId peer) {
  std::uint64_t x = asker.value * 0x9e3779b97f4a7c15 + peer.value;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

}  // namespace

PeerDirectory::Tree& PeerDirectory::tree(const Digest& root, Instant now) {
  if (trees_.size() >= kMaxPeerTrees && trees_.count(root) == 0) {
    trees_.erase(std::min_element(trees_.begin(), trees_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  }
  Tree& found = trees_[root];
  found.used = now;
  return found;
}

// Returns the node's place in the order; it is kept while the node continues to fetch.
std::uint64_t PeerDirectory::enter(Tree& tree, std::uint64_t order, NodeId node,
                                   const FindPeers& ask, Instant now) {
  auto& nodes = tree.nodes;
  for (auto it = nodes.begin(); it != nodes.end(); ++it) {
    if (it->second.node != node) continue;
    const bool goes_on = !it->second.whole && now - it->second.heard < kFetchingFor;
    if (goes_on && ask.port != 0) {
      it->second.heard = now;
      it->second.port = ask.port;
      return it->first;
    }
    nodes.erase(it);
    break;
  }
  if (ask.port == 0) return order;
  if (nodes.size() >= kMaxNodesOfTree) {
    const auto idle = std::find_if(nodes.begin(), nodes.end(), [now](const auto& at) {
      return at.second.whole || now - at.second.heard >= kFetchingFor;
    });
    if (idle == nodes.end()) return order;
    nodes.erase(idle);
  }
  nodes[order] = {node, ask.port, now, false};
  return order;
}

// The first nodes of the order that the asker can reach are its core.
PeerDirectory::Candidates PeerDirectory::candidates(const Tree& tree, std::uint64_t order,
                                                    NodeId asker, Instant now, const Reach& reach) {
  Candidates all;
  std::size_t in_core = 0;
  for (const auto& [at, holder] : tree.nodes) {
    const Found found{holder.node, holder.port, true, false};
    if (holder.node == asker) {
      all.has_asker_in_core = in_core++ < kPeerCore;
    } else if (holder.whole) {
      all.whole.push_back({holder.node, holder.port, false, false});
    } else if (now - holder.heard >= kFetchingFor) {
      continue;
    } else if (in_core < kPeerCore) {
      if (!reach(asker, holder.node)) continue;
      ++in_core;
      all.core.push_back({holder.node, holder.port, true, true});
    } else if (at < order) {
      all.earlier.push_back(found);
    }
  }
  return all;
}

// Remembers which peers were named, and finds those that must be told about the asker.
void PeerDirectory::note_named(Instant now, NodeId asker, const Digest& key, const FindPeers& ask,
                               Answer& answer) {
  if (told_count_ > kMaxTold) {
    told_.clear();
    told_count_ = 0;
  }
  if (named_count_ > kMaxNamed) {
    named_.clear();
    named_count_ = 0;
  }
  if (answer.peers.empty()) return;
  std::set<NodeId>& named = named_[{asker, key}];
  Told& told = told_[{asker, key}];
  told.ask = ask;
  told.last = now;
  for (const Found& peer : answer.peers) {
    named_count_ += named.insert(peer.node).second;
    const auto [it, is_new] = told.peers.try_emplace(peer.node, now);
    told_count_ += is_new ? 1 : 0;
    if (!is_new && now - it->second < kTellAgainAfter) continue;
    it->second = now;
    answer.to_tell.push_back(peer.node);
  }
}

PeerDirectory::Answer PeerDirectory::find(Instant now, NodeId asker, const FindPeers& ask,
                                          const Reach& reach) {
  const Digest key = key_of_tree(ask.root, ask.lock);
  Tree& there = tree(key, now);
  const std::uint64_t order = enter(there, ++last_order_, asker, ask, now);
  Candidates known = candidates(there, order, asker, now, reach);
  Answer answer;
  answer.core = known.has_asker_in_core;
  const auto take_some = [&](std::vector<Found>& from, std::size_t most) {
    std::sort(from.begin(), from.end(), [&](const Found& a, const Found& b) {
      return mix(asker, a.node) < mix(asker, b.node);
    });
    for (const Found& one : from) {
      if (most == 0) return;
      if (!reach(asker, one.node)) continue;
      answer.peers.push_back(one);
      --most;
    }
  };
  if (answer.core) {
    answer.peers = known.core;
  } else {
    known.earlier.insert(known.earlier.end(), known.core.begin(), known.core.end());
    take_some(known.earlier, kEarlierPeers);
  }
  take_some(known.whole, kWholePeers);
  note_named(now, asker, key, ask, answer);
  return answer;
}

std::vector<PeerDirectory::Withdrawal> PeerDirectory::withdraw(Instant now, const May& may) {
  std::vector<Withdrawal> all;
  for (auto it = told_.begin(); it != told_.end();) {
    const NodeId asker = it->first.first;
    const Told& told = it->second;
    const bool is_over = now - told.last >= kPeerAllowedFor;  // the entry expires by itself
    if (!is_over && may(asker, told.ask)) {
      ++it;
      continue;
    }
    Withdrawal one{asker, told.ask.root, {}};
    for (const auto& [peer, at] : told.peers) one.peers.push_back(peer);
    told_count_ -= one.peers.size();
    if (!is_over) all.push_back(std::move(one));
    it = told_.erase(it);
  }
  return all;
}

FetchReport PeerDirectory::take(NodeId from, FetchReport report) {
  const Digest key = key_of_tree(report.root, report.lock);
  std::set<NodeId> named;
  if (const auto it = named_.find({from, key}); it != named_.end()) {
    named = std::move(it->second);
    named_count_ -= named.size();
    named_.erase(it);
  }
  // Each share counts once, even if it is reported twice.
  std::erase_if(report.peers, [&](const auto& share) { return named.erase(share.node) == 0; });
  BlobTraffic& mine = traffic_[from];
  mine.from_launcher_bytes += report.from_launcher_bytes;
  for (const FetchReport::Share& share : report.peers) {
    BlobTraffic& theirs = traffic_[share.node];
    mine.from_peers_bytes += share.bytes;
    theirs.to_peers_bytes += share.bytes;
    if (!share.gave_wrong_data) continue;
    ++theirs.lies;
    theirs.last_lie = share.fault;
  }
  const auto found = trees_.find(key);
  if (found == trees_.end()) return report;
  auto& nodes = found->second.nodes;
  for (auto it = nodes.begin(); it != nodes.end(); ++it) {
    if (it->second.node != from) continue;
    it->second.whole = report.whole;
    if (!report.whole) nodes.erase(it);
    break;
  }
  return report;
}

BlobTraffic PeerDirectory::traffic(NodeId node) const {
  const auto found = traffic_.find(node);
  return found == traffic_.end() ? BlobTraffic{} : found->second;
}

}  // namespace lockstep::launcher
