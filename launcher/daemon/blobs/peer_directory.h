#pragma once
// The nodes that have a tree or are fetching it, as they report while they fetch; chooses the peers
// to name to a node that asks. The data is bounded and only in memory: after a restart the reports
// of the nodes fill it again. No socket, no clock.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "common/base/digest.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/messages/bulk_protocol.h"
#include "common/domain/messages/views.h"

namespace lockstep::launcher {

class PeerDirectory {
 public:
  // True if `asker` can probably dial `peer`: it is alive, on the same network and has an address.
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
    std::vector<NodeId> to_tell;  // peers to tell that the asker may fetch: not told lately
  };
  Answer find(Instant now, NodeId asker, const FindPeers& ask, const Reach& reach);
  // A tree that an asker may no longer fetch, and the peers that were told lately that it may.
  struct Withdrawal {
    NodeId asker;
    Digest root;
    std::vector<NodeId> peers;
  };
  using May = std::function<bool(NodeId asker, const FindPeers& ask)>;
  std::vector<Withdrawal> withdraw(Instant now, const May& may);
  // Counts the report's bytes. Returns the report without the peers that were not named to this
  // node for this tree since its last report.
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
    std::map<std::uint64_t, Holder> nodes;  // in the order in which they began to fetch
    Instant used;
  };
  // The holders of a tree that an asker may fetch from, apart by how far they have come.
  struct Candidates {
    bool has_asker_in_core = false;
    std::vector<Found> core, earlier, whole;
  };
  Tree& tree(const Digest& root, Instant now);
  static std::uint64_t enter(Tree& tree, std::uint64_t order, NodeId node, const FindPeers& ask,
                             Instant now);
  static Candidates candidates(const Tree& tree, std::uint64_t order, NodeId asker, Instant now,
                               const Reach& reach);
  void note_named(Instant now, NodeId asker, const Digest& key, const FindPeers& ask,
                  Answer& answer);

  std::map<Digest, Tree> trees_;
  std::uint64_t last_order_ = 0;
  struct Told {
    FindPeers ask;
    Instant last;
    std::map<NodeId, Instant> peers;
  };
  std::map<std::pair<NodeId, Digest>, Told> told_;  // (asker, tree): the peers told to let it in
  std::size_t told_count_ = 0;
  // By asker and tree: the peers named to the asker since its last report about the tree.
  std::map<std::pair<NodeId, Digest>, std::set<NodeId>> named_;
  std::size_t named_count_ = 0;
  // The traffic of nodes that report, and of peers that were named to them.
  std::map<NodeId, BlobTraffic> traffic_;
};

inline constexpr std::size_t kPeerCore = 16;  // first nodes, which share the launcher's work
// the most peers still fetching that are named to each later node
inline constexpr std::size_t kEarlierPeers = 8;
// Peers with the whole tree that are named to each node.
inline constexpr std::size_t kWholePeers = 8;
inline constexpr std::size_t kMaxPeerTrees = 1'000;
inline constexpr std::size_t kMaxNodesOfTree = 1'024;
inline constexpr Duration kFetchingFor = seconds(3);  // how long a node's FindPeers counts

}  // namespace lockstep::launcher
