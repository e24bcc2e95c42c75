// Nodes that fetch a tree from each other over real sockets: honest, lying, vanishing, deaf.

#include "tests/unit/common/transfer/peers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "common/snapshot/content/compress.h"

namespace lockstep::transfer {
namespace {

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
    EXPECT_TRUE(told[0].peers[0].gave_wrong_data);
    EXPECT_FALSE(told[0].peers[0].fault.empty());
    EXPECT_GT(told[0].from_launcher_bytes, 0u);
  }
}

TEST_F(Peers, OneThatVanishesInTheMiddleOfABlobIsLeftForTheOthers) {
  Node node(dir / "node");
  timeout = seconds(1);
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

TEST_F(Peers, OneThatIsDeafFromTheStartCostsItsTimeoutAndNothingElse) {
  Node node(dir / "node");
  timeout = milliseconds(300);
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
  timeout = milliseconds(300);
  const auto stranger_to_us = holder(other);
  const Status fetched = fetch(node);
  ASSERT_TRUE(fetched) << fetched.error().message;
  expect_whole(node);
  EXPECT_GE(launcher.sent_bytes(), kTreeBytes);
}

TEST_F(Peers, FourThatBeginTogetherTakeAboutOneCopyFromTheLauncher) {
  const auto nodes = core_of(4);
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

// Each one that came too early to know the others took a large file from the launcher.
TEST_F(Peers, FourThatBeginOneAfterTheOtherTakeOneCopyOfALargeFile) {
  const auto nodes = core_of(4);
  std::vector<PublicKey> asked;  // of the launcher's thread
  std::atomic<std::size_t> known{0};
  launcher.find_peers = [&](const PublicKey& asker) {
    if (std::find(asked.begin(), asked.end(), asker) == asked.end()) asked.push_back(asker);
    known = asked.size();
    FindPeersReply reply{{}, true, {}, 3};
    for (const BlobPeer& peer : peers) {
      if (peer.key == asker) reply.self = peer.node;
      const bool is_known = std::find(asked.begin(), asked.end(), peer.key) != asked.end();
      if (peer.key != asker && is_known) reply.peers.push_back(peer);
    }
    return reply;
  };
  std::vector<std::thread> threads;
  for (const auto& node : nodes) {
    threads.emplace_back([&, raw = node.get()] {
      const Status fetched = fetch(*raw);
      EXPECT_TRUE(fetched) << fetched.error().message;
    });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (known < threads.size() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
  }
  for (auto& thread : threads) thread.join();
  for (const auto& node : nodes) expect_whole(*node);
  EXPECT_LT(launcher.sent_bytes(), kTreeBytes * 5 / 4);
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
