#pragma once
// Knows which nodes have a tree or are fetching it, from their requests, and names peers to them.
// Bounded and kept in memory only: a restarted launcher learns it again. No socket, no clock.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/bulk.h"
#include "common/domain/views.h"

namespace lockstep::launcher {

class PeerDirectory {
 public:
  // May `asker` dial `peer`, as far as is known: alive, one network, an address?
  using Reach = std::function<bool(NodeId asker, NodeId peer)>;
  struct Found {
    NodeId node;
    std::uint16_t port = 0;
    bool fetching = false;
    bool core = false;
  };
  struct Answer {
    bool core = false;
    std::vector<Found> peers;
    std::vector<NodeId> to_tell;  // of these, who are to let the asker in: told long ago, or never
  };
  Answer find(Instant now, NodeId asker, const FindPeers& ask, const Reach& reach);
  // Trees that an asker may not have any more, and who was told of it lately that it may.
  struct Withdrawal {
    NodeId asker;
    Digest root;
    std::vector<NodeId> peers;
  };
  using May = std::function<bool(NodeId asker, const FindPeers& ask)>;
  std::vector<Withdrawal> withdraw(Instant now, const May& may);
  // Returns the part that counts: of peers that were named to this node for this tree since its
  // last report. What it says of others is dropped.
  FetchReport take(NodeId from, FetchReport report);
  BlobTraffic traffic(NodeId node) const;

 private:
  struct Holder {
    NodeId node;
    std::uint16_t port = 0;
    Instant heard;
    bool whole = false;
  };
  struct Tree {
    std::map<std::uint64_t, Holder> nodes;  // by the order in which they began
    Instant used;
  };
  Tree& tree(const Digest& root, Instant now);
  static std::uint64_t enter(Tree& tree, std::uint64_t order, NodeId node, const FindPeers& ask,
                             Instant now);

  std::map<Digest, Tree> trees_;
  std::uint64_t last_order_ = 0;
  struct Told {
    FindPeers ask;
    Instant last;
    std::map<NodeId, Instant> peers;
  };
  std::map<std::pair<NodeId, Digest>, Told> told_;  // of whom and for which tree: whom
  std::size_t told_count_ = 0;
  // Which peers a node was told of, for a tree, since its last report of that.
  std::map<std::pair<NodeId, Digest>, std::set<NodeId>> named_;
  std::size_t named_count_ = 0;
  std::map<NodeId, BlobTraffic> traffic_;  // of nodes that ask, and of those named to them
};

inline constexpr std::size_t kPeerCore = 16;     // nodes that share the launcher's work
inline constexpr std::size_t kEarlierPeers = 8;  // that fetch it too, for each later one
inline constexpr std::size_t kWholePeers = 8;    // that have it all, for each
inline constexpr std::size_t kMaxPeerTrees = 1'000;
inline constexpr std::size_t kMaxNodesOfTree = 1'024;
inline constexpr Duration kFetchingFor = seconds(3);  // since it said so last

}  // namespace lockstep::launcher
