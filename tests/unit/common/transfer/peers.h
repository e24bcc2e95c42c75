#pragma once
// Nodes that each have a peer server, and a fake launcher that names the peers.

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/snapshot/checkout/materialize.h"
#include "common/transfer/peer_server.h"
#include "common/transfer/swarm.h"
#include "common/transfer/tree_units.h"
#include "tests/unit/common/snapshot/trees.h"
#include "tests/unit/common/transfer/blob_server.h"
#include "tests/unit/support/noise.h"

namespace lockstep::transfer {

using snapshot::BlobStore;
using snapshot::TempDir;
using test::noise;
using Fate = BlobServer::Fate;

inline constexpr std::uint64_t kTreeBytes = 14u << 20;

inline Fate always(unsigned) { return Fate::pass; }

struct Node {
  explicit Node(const std::string& path) : store(*BlobStore::open(path)) {}
  void serve() {
    auto started = PeerServer::start("tcp://127.0.0.1:*", keys, *store, fetch_progress);
    ASSERT_TRUE(started) << started.error().message;
    server = *std::move(started);
  }

  io::KeyPair keys = io::generate_key_pair();
  std::unique_ptr<BlobStore> store;
  FetchProgress fetch_progress;
  std::unique_ptr<PeerServer> server;
};

struct Peers : ::testing::Test {
  Peers() {
    for (unsigned i = 0; i < 40; ++i)
      source.file("d" + std::to_string(i % 5) + "/f" + std::to_string(i), noise(200'000, i));
    source.file("large", noise(kTreeBytes - 40 * 200'000, 99));
    tree = *snapshot::capture(source.path(), {});
    snapshot::store_all(tree, *launcher_store);
    launcher.on_report = [this](const FetchReport& said) {
      std::lock_guard guard(mutex);
      reports_.push_back(said);
    };
    launcher.find_peers = [this](const PublicKey&) { return FindPeersReply{self, false, peers}; };
  }

  // Waits for a FetchReport and returns those that came since the last call. It has to wait because
  // fetch_tree() returns before the launcher gets the report.
  std::vector<FetchReport> reports() {
    for (int i = 0; i < 3'000; ++i) {
      {
        std::lock_guard guard(mutex);
        if (!reports_.empty()) return std::exchange(reports_, {});
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
    return {};
  }

  void add_peer(const std::string& endpoint, const PublicKey& key) {
    const NodeId id(peers.size() + 1);
    peers.push_back({id, "n" + std::to_string(id.value), endpoint, key, false, false});
  }

  // A node that has the whole tree and allows `asker` to fetch it.
  std::unique_ptr<Node> holder(const Node& asker) {
    auto made = std::make_unique<Node>(dir / ("holder" + std::to_string(peers.size())));
    snapshot::store_all(tree, *made->store);
    made->serve();
    made->server->allow({asker.keys.public_key}, tree.root);
    add_peer(made->server->endpoint(), made->keys.public_key);
    return made;
  }

  // Nodes without the tree that begin together; the launcher names all others to each.
  std::vector<std::unique_ptr<Node>> core_of(int count) {
    std::vector<std::unique_ptr<Node>> nodes;
    for (int i = 0; i < count; ++i) {
      nodes.push_back(std::make_unique<Node>(dir / ("node" + std::to_string(i))));
      nodes.back()->serve();
      add_peer(nodes.back()->server->endpoint(), nodes.back()->keys.public_key);
      peers.back().fetching = peers.back().core = true;
    }
    for (const auto& node : nodes)
      for (const auto& other : nodes) node->server->allow({other->keys.public_key}, tree.root);
    launcher.find_peers = [this](const PublicKey& asker) {
      FindPeersReply reply{{}, true, {}};
      for (const BlobPeer& peer : peers) {
        if (peer.key == asker) reply.self = peer.node;
        if (peer.key != asker) reply.peers.push_back(peer);
      }
      return reply;
    };
    return nodes;
  }

  Status fetch(Node& node) {
    io::EventLoop loop;
    io::Transport transport{loop, [](auto&, auto&) { return false; }};
    auto socket = io::ClientSocket::connect(transport, launcher.endpoint(),
                                            launcher.keys().public_key, node.keys);
    SwarmSite site{transport, node.keys, node.fetch_progress, 0, {}};
    if (node.server) site.port = node.server->port();
    site.limits.timeout = timeout;
    return fetch_tree(*std::move(socket), tree.root, *node.store, site,
                      [this](const Progress& now) {
                        std::lock_guard guard(mutex);
                        last = now;
                        most_peers = std::max(most_peers, now.peers);
                      });
  }

  void expect_whole(Node& node) {
    const auto missing = node.store->missing_from(tree.root);
    ASSERT_TRUE(missing);
    EXPECT_TRUE(missing->empty());
    const std::string out = dir / ("out" + std::to_string(++outs));
    const Status written = snapshot::materialize(*node.store, tree.root, out);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(snapshot::capture(out, {})->root, tree.root);
  }

  TempDir dir, source;
  snapshot::Snapshot tree;
  std::unique_ptr<BlobStore> launcher_store = *BlobStore::open(dir / "launcher");
  BlobServer launcher{"tcp://127.0.0.1:*", *launcher_store, always};
  NodeId self{100};
  std::vector<BlobPeer> peers;
  std::vector<FetchReport> reports_;
  std::mutex mutex;  // guards reports_, last and most_peers
  Progress last;
  int most_peers = 0;
  Duration timeout = seconds(10);  // long enough for honest peers on a busy machine
  int outs = 0;
};

}  // namespace lockstep::transfer
