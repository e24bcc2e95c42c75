// Nodes that fetch a tree from each other over real sockets: honest, lying, vanishing, deaf.

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <utility>

#include "common/snapshot/compress.h"
#include "common/snapshot/materialize.h"
#include "common/transfer/peer_server.h"
#include "common/transfer/swarm.h"
#include "common/transfer/tree_units.h"
#include "tests/unit/snapshot/trees.h"
#include "tests/unit/support/noise.h"
#include "tests/unit/transfer/blob_server.h"

namespace lockstep::transfer {
namespace {

using snapshot::BlobStore;
using snapshot::TempDir;
using test::noise;
using Fate = BlobServer::Fate;

constexpr std::uint64_t kTreeBytes = 14u << 20;

Fate always(unsigned) { return Fate::pass; }

struct Node {
  explicit Node(const std::string& path) : store(*BlobStore::open(path)) {}
  void serve() {
    auto started = PeerServer::start("tcp://127.0.0.1:*", keys, *store, board);
    ASSERT_TRUE(started) << started.error().message;
    server = *std::move(started);
  }

  io::KeyPair keys = io::generate_key_pair();
  std::unique_ptr<BlobStore> store;
  FetchBoard board;
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

  // Of the fetches since the last time, once there is one: nobody waits for it to be heard.
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

  // A node that has it all, and lets `asker` in.
  std::unique_ptr<Node> holder(const Node& asker) {
    auto made = std::make_unique<Node>(dir / ("holder" + std::to_string(peers.size())));
    snapshot::store_all(tree, *made->store);
    made->serve();
    made->server->allow({asker.keys.public_key});
    add_peer(made->server->endpoint(), made->keys.public_key);
    return made;
  }

  Status fetch(Node& node) {
    io::EventLoop loop;
    io::Transport transport{loop, [](auto&, auto&) { return false; }};
    auto socket = io::ClientSocket::connect(transport, launcher.endpoint(),
                                            launcher.keys().public_key, node.keys);
    SwarmSite site{transport, node.keys, node.board, 0, {}};
    if (node.server) site.port = node.server->port();
    site.limits.patience = patience;
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
  std::mutex mutex;  // of reports_ and what follows
  Progress last;
  int most_peers = 0;
  Duration patience = seconds(10);  // with honest ones, however busy this machine is
  int outs = 0;
};

TEST_F(Peers, TwoThatHaveItAllGiveItAllAndTheLauncherNothing) {
  Node node(dir / "node");
  const auto one = holder(node), two = holder(node);
  const Status fetched = fetch(node);
  ASSERT_TRUE(fetched) << fetched.error().message;
  expect_whole(node);
  EXPECT_LT(launcher.sent_bytes(), kTreeBytes / 100);
  EXPECT_EQ(most_peers, 2);
  EXPECT_EQ(last.done_bytes, last.total_bytes);
  const auto told = reports();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].whole);
  EXPECT_EQ(told[0].from_launcher_bytes, 0u);
  ASSERT_EQ(told[0].peers.size(), 2u);
  EXPECT_EQ(told[0].peers[0].bytes + told[0].peers[1].bytes, kTreeBytes);
}

TEST_F(Peers, AThatLiesIsDroppedAndNamedAndTheLauncherBringsTheRest) {
  // In small blobs, in pieces of large ones, and by sending what nobody asked for.
  const std::vector<std::function<void(BlobData&)>> lies = {
      [](BlobData& data) {
        for (auto& piece : data.pieces)
          if (piece.total_size < 1'000'000) piece.data[7] = static_cast<char>(piece.data[7] ^ 1);
      },
      [](BlobData& data) {
        for (auto& piece : data.pieces)
          if (piece.total_size > 1'000'000) piece.data[7] = static_cast<char>(piece.data[7] ^ 1);
      },
      [](BlobData& data) {
        data.pieces.push_back(snapshot::make_piece(sha256("gift"), 4, 0, "gift"));
      },
      [](BlobData& data) {
        for (auto& piece : data.pieces) piece.total_size += 1;
      },
      [](BlobData& data) {  // once failed the whole fetch: it is another error of the store's
        for (auto& piece : data.pieces) piece.data.pop_back();
      },
      [](BlobData& data) {
        for (auto& piece : data.pieces) piece.compressed = true;
      }};
  for (const auto& lie : lies) {
    peers.clear();
    Node node(dir / ("node" + std::to_string(++outs)));
    BlobServer liar("tcp://127.0.0.1:*", *launcher_store, always);
    liar.change = lie;
    add_peer(liar.endpoint(), liar.keys().public_key);
    const Status fetched = fetch(node);
    ASSERT_TRUE(fetched) << fetched.error().message;
    expect_whole(node);
    EXPECT_FALSE(node.store->has(sha256("gift")));
    const auto told = reports();
    ASSERT_EQ(told.size(), 1u);
    ASSERT_EQ(told[0].peers.size(), 1u);
    EXPECT_TRUE(told[0].peers[0].lied);
    EXPECT_FALSE(told[0].peers[0].fault.empty());
    EXPECT_GT(told[0].from_launcher_bytes, 0u);
  }
}

TEST_F(Peers, OneThatVanishesInTheMiddleOfABlobIsLeftForTheOthers) {
  Node node(dir / "node");
  patience = seconds(1);
  std::atomic<int> sent{0};
  BlobServer vanishing("tcp://127.0.0.1:*", *launcher_store,
                       [&](unsigned) { return sent > 2 ? Fate::lose : Fate::pass; });
  vanishing.change = [&](BlobData&) { ++sent; };
  add_peer(vanishing.endpoint(), vanishing.keys().public_key);
  const auto other = holder(node);
  std::thread killer([&] {
    while (sent < 3) std::this_thread::yield();
    vanishing.stop();
  });
  const Status fetched = fetch(node);
  killer.join();
  ASSERT_TRUE(fetched) << fetched.error().message;
  expect_whole(node);
  EXPECT_LT(launcher.sent_bytes(), kTreeBytes / 100) << "the other peer had it all";
}

TEST_F(Peers, OneThatIsDeafFromTheStartCostsItsPatienceAndNothingElse) {
  Node node(dir / "node");
  patience = milliseconds(300);
  BlobServer deaf("tcp://127.0.0.1:*", *launcher_store, [](unsigned) { return Fate::lose; });
  add_peer(deaf.endpoint(), deaf.keys().public_key);
  add_peer("tcp://127.0.0.1:1", deaf.keys().public_key);  // nobody listens
  const Status fetched = fetch(node);
  ASSERT_TRUE(fetched) << fetched.error().message;
  expect_whole(node);
  EXPECT_FALSE(reports().at(0).peers.size()) << "silence is no lie";
}

TEST_F(Peers, OneThatDoesNotKnowThisNodeIsNoPeer) {
  Node node(dir / "node"), other(dir / "other");
  patience = milliseconds(300);
  const auto stranger_to_us = holder(other);
  const Status fetched = fetch(node);
  ASSERT_TRUE(fetched) << fetched.error().message;
  expect_whole(node);
  EXPECT_GE(launcher.sent_bytes(), kTreeBytes);
}

TEST_F(Peers, FourThatBeginTogetherTakeAboutOneCopyFromTheLauncher) {
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < 4; ++i) {
    nodes.push_back(std::make_unique<Node>(dir / ("node" + std::to_string(i))));
    nodes.back()->serve();
    add_peer(nodes.back()->server->endpoint(), nodes.back()->keys.public_key);
    peers.back().fetching = peers.back().core = true;
  }
  for (const auto& node : nodes)
    for (const auto& other : nodes) node->server->allow({other->keys.public_key});
  launcher.find_peers = [this](const PublicKey& asker) {
    FindPeersReply reply{{}, true, {}};
    for (const BlobPeer& peer : peers) {
      if (peer.key == asker) reply.self = peer.node;
      if (peer.key != asker) reply.peers.push_back(peer);
    }
    return reply;
  };
  std::vector<std::thread> threads;
  for (const auto& node : nodes)
    threads.emplace_back([&, raw = node.get()] {
      const Status fetched = fetch(*raw);
      EXPECT_TRUE(fetched) << fetched.error().message;
    });
  for (auto& thread : threads) thread.join();
  for (const auto& node : nodes) expect_whole(*node);
  EXPECT_LT(launcher.sent_bytes(), 2 * kTreeBytes);
}

TEST_F(Peers, ASmallTreeIsTheLaunchersAlone) {
  source.folder("small");
  TempDir small;
  small.file("a/b", "some text");
  tree = *snapshot::capture(small.path(), {});
  snapshot::store_all(tree, *launcher_store);
  Node node(dir / "node");
  launcher.find_peers = [](const PublicKey&) {
    ADD_FAILURE() << "peers were asked for";
    return FindPeersReply{};
  };
  ASSERT_TRUE(fetch(node));
  expect_whole(node);
}

TEST_F(Peers, WhatTheLauncherLacksFailsAndIsNamed) {
  Node node(dir / "node");
  launcher.change = [](BlobData& data) {
    std::erase_if(data.pieces, [&](const auto& piece) {
      if (piece.total_size < 100'000) return false;
      data.absent.push_back(piece.digest);
      return true;
    });
  };
  const Status fetched = fetch(node);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::not_found);
  EXPECT_FALSE(reports().at(0).whole);
}

TEST_F(Peers, UnitsAreTheSameOnEveryNodeAndHoldEachFileOnce) {
  const auto units = *units_of(*launcher_store, tree.root);
  std::uint64_t bytes = 0;
  std::size_t blobs = 0;
  for (const auto& unit : units) {
    bytes += unit.bytes;
    blobs += unit.blobs.size();
    EXPECT_TRUE(unit.blobs.size() == 1 || unit.bytes < 2 * kUnitBytes);
  }
  EXPECT_EQ(bytes, kTreeBytes);
  EXPECT_EQ(blobs, 41u);
}

}  // namespace
}  // namespace lockstep::transfer
