// Nodes that share what each of them could fetch from elsewhere, over real sockets.

#include <deque>
#include <set>

#include "common/snapshot/manifest.h"
#include "tests/unit/common/transfer/peers.h"

namespace lockstep::transfer {
namespace {

// What a package channel is: it has each file, and is asked for one at a time.
struct Channel : Origin {
  Channel(const BlobStore& all, BlobStore& ours) : from(all), into(ours) {}
  void ask(const snapshot::BlobWanted& file) override { asked.push_back(file.digest); }
  Result<News> poll() override {
    if (after_brought <= brought) return News{0, true};
    if (brought == asked.size()) return News{};
    const std::string raw = *from.get(asked[brought++]);
    TRY(into.put(sha256(raw), raw));
    return News{raw.size(), false};
  }
  const BlobStore& from;
  BlobStore& into;
  std::vector<Digest> asked;
  std::size_t brought = 0;
  std::size_t after_brought = SIZE_MAX;  // it is gone
};

struct Channels : Peers {
  Channels() {
    const auto top = *snapshot::decode_directory(*launcher_store->get(tree.root));
    for (const auto& node : nodes) {
      channels.emplace_back(*launcher_store, *node->store);
      EXPECT_TRUE(node->store->put(tree.root, *launcher_store->get(tree.root)));
      for (const auto& entry : top.entries)
        if (entry.kind == snapshot::EntryKind::directory) {
          EXPECT_TRUE(node->store->put(entry.digest, *launcher_store->get(entry.digest)));
        }
    }
    const auto units = *units_of(*launcher_store, tree.root);
    for (const TreeUnit& unit : units)
      for (const auto& blob : unit.blobs) files.insert(blob.digest);
  }

  Status fetch_from(std::size_t number, const std::set<Digest>& wanted) {
    Node& node = *nodes[number];
    io::EventLoop loop;
    io::Transport transport{loop, [](auto&, auto&) { return false; }};
    auto socket = io::ClientSocket::connect(transport, launcher.endpoint(),
                                            launcher.keys().public_key, node.keys);
    SwarmSite site{transport, node.keys, node.fetch_progress, node.server->port(), {}};
    site.limits.timeout = timeout;
    return fetch_files(*std::move(socket), tree.root, sha256("lock"), wanted, *node.store, site,
                       channels[number]);
  }

  void fetch_all() {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      threads.emplace_back([this, i] {
        const Status fetched = fetch_from(i, files);
        EXPECT_TRUE(fetched) << fetched.error().message;
      });
    for (auto& thread : threads) thread.join();
  }

  const std::vector<std::unique_ptr<Node>> nodes = core_of(3);
  std::deque<Channel> channels;
  std::set<Digest> files;
};

TEST_F(Channels, NodesThatBeginTogetherAskForEachFileOnce) {
  fetch_all();
  std::multiset<Digest> asked;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    expect_whole(*nodes[i]);
    asked.insert(channels[i].asked.begin(), channels[i].asked.end());
  }
  // A node that is slow to begin may be taken for one that is not there.
  EXPECT_LT(asked.size(), 2 * files.size());
  EXPECT_EQ(std::set<Digest>(asked.begin(), asked.end()), files);
  EXPECT_EQ(launcher.sent_bytes(), 0u);
  for (const FetchReport& said : reports()) EXPECT_EQ(said.from_launcher_bytes, 0u);
}

TEST_F(Channels, WhatOneNodeCannotFetchTheOthersBring) {
  timeout = seconds(1);
  channels[0].after_brought = 2;
  fetch_all();
  for (const auto& node : nodes) expect_whole(*node);
}

TEST_F(Channels, WithoutOneItEndsAndSaysThatItIsNotWhole) {
  timeout = milliseconds(300);
  for (Channel& channel : channels) channel.after_brought = 1;
  fetch_all();
  std::size_t lacking = 0;
  for (const auto& node : nodes) lacking += node->store->missing_from(tree.root)->size();
  EXPECT_GT(lacking, 0u);
  for (const FetchReport& said : reports()) EXPECT_FALSE(said.whole);
}

TEST_F(Channels, WhatIsNotWantedIsLeftAlone) {
  const auto units = *units_of(*launcher_store, tree.root);
  ASSERT_GT(units.size(), 3u);
  std::set<Digest> wanted;
  for (const auto& blob : units[1].blobs) wanted.insert(blob.digest);
  const Status fetched = fetch_from(0, wanted);
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(std::set<Digest>(channels[0].asked.begin(), channels[0].asked.end()), wanted);
  EXPECT_FALSE(reports().at(0).whole);
}

TEST_F(Channels, AnErrorOfOursEndsIt) {
  struct Stopped : Origin {
    void ask(const snapshot::BlobWanted&) override {}
    Result<News> poll() override { return make_error(ErrorCode::conflict, "stopped"); }
  } stopped;
  Node& node = *nodes[0];
  io::EventLoop loop;
  io::Transport transport{loop, [](auto&, auto&) { return false; }};
  auto socket = io::ClientSocket::connect(transport, launcher.endpoint(),
                                          launcher.keys().public_key, node.keys);
  const SwarmSite site{transport, node.keys, node.fetch_progress, node.server->port(), {}};
  const Status fetched =
      fetch_files(*std::move(socket), tree.root, sha256("lock"), files, *node.store, site, stopped);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().message, "stopped");
}

}  // namespace
}  // namespace lockstep::transfer
