// Streams of blobs whose receiver may not read them any more, and turns between those who ask.

#include "launcher/daemon/blobs/blob_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "common/snapshot/content/compress.h"
#include "common/snapshot/manifest.h"
#include "tests/unit/support/noise.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

struct LauncherBlobServiceTest : ::testing::Test {
  void turn_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + seconds(30);
    while (!done() && std::chrono::steady_clock::now() < end) {
      service.retry();
      loop.turn(milliseconds(5));
    }
    ASSERT_TRUE(done());
  }
  test::TempDir dir;
  io::EventLoop loop;
  std::unique_ptr<snapshot::BlobStore> store = *snapshot::BlobStore::open(dir / "blobs");
  std::unique_ptr<BlobLedger> ledger = *BlobLedger::open(dir / "blobs.sent");
  std::vector<BulkMessage> sent;
  bool is_full = false;
  BlobService service{loop, *store, *ledger,
                      [this](const std::string&, std::uint64_t, const BulkMessage& message) {
                        if (is_full) return BlobService::Sent::full;
                        sent.push_back(message);
                        return BlobService::Sent::yes;
                      }};
};

// A receiver that found a blob damaged asks again.
TEST_F(LauncherBlobServiceTest, ABlobThatIsAskedForAgainIsCheckedAndDroppedIfItIsDamaged) {
  const std::string blob = test::noise(3 * kMaxPieceBytes), other = test::noise(2 * kMaxPieceBytes);
  snapshot::Directory root;
  root.entries = {{"a", snapshot::EntryKind::file, 0644, blob.size(), sha256(blob), {}},
                  {"b", snapshot::EntryKind::file, 0644, other.size(), sha256(other), {}}};
  const std::string tree = encode(root);
  for (const std::string& bytes : {blob, other, tree})
    ASSERT_TRUE(store->put(sha256(bytes), bytes));
  const std::string hex = sha256(blob).hex();
  {
    std::fstream file(dir / ("blobs/" + hex.substr(0, 2) + "/" + hex.substr(2)),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kMaxPieceBytes + 1000);
    file << "damaged";
  }
  std::uint64_t asked = 0;
  const auto ask = [&](const Digest& digest) {
    sent.clear();
    service.handle(BlobService::From{"alice", PublicKey{"key"}, ++asked},
                   GetBlobs{{digest}, 0, 0, false, sha256(tree), {}});
    BlobData all;
    turn_until([&] {
      const auto* data = sent.empty() ? nullptr : std::get_if<BlobData>(&sent.back());
      return data != nullptr && data->last;
    });
    for (const BulkMessage& message : sent) {
      const auto& data = std::get<BlobData>(message);
      all.absent.insert(all.absent.end(), data.absent.begin(), data.absent.end());
      all.pieces.insert(all.pieces.end(), data.pieces.begin(), data.pieces.end());
    }
    return all;
  };
  EXPECT_EQ(ask(sha256(blob)).pieces.size(), 3u) << "it is sent without a look";
  EXPECT_EQ(ask(sha256(blob)).absent, std::vector{sha256(blob)});
  EXPECT_FALSE(store->has(sha256(blob))) << "whoever has it may send it again";
  ASSERT_TRUE(store->put(sha256(blob), blob));
  for (int times = 0; times < 3; ++times) {
    EXPECT_EQ(ask(sha256(blob)).pieces.size(), 3u);
    EXPECT_EQ(ask(sha256(other)).pieces.size(), 2u);
  }
}

TEST_F(LauncherBlobServiceTest, WhatIsWithdrawnEndsInMidStreamAndIsToldOnceTheQueueHasRoom) {
  const std::string blob = test::noise(16 * kMaxPieceBytes);
  ASSERT_TRUE(store->put(sha256(blob), blob));
  is_full = true;
  service.handle(BlobService::From{"alice", PublicKey{"key"}, 1},
                 GetBlobs{{sha256(blob)}, 0, 0, false, sha256(blob), JobId("hers")});
  turn_until([&] { return service.stalled(); });
  service.look_again([](const BlobService::From&, const Digest&, const JobId&) { return true; });
  is_full = false;
  service.retry();
  turn_until([&] { return !sent.empty(); });
  ASSERT_TRUE(std::holds_alternative<BlobData>(sent[0]));
  is_full = true;
  turn_until([&] { return service.stalled(); });
  service.look_again([](const BlobService::From&, const Digest&, const JobId&) { return false; });
  service.retry();
  is_full = false;
  turn_until([&] { return std::holds_alternative<BulkRefused>(sent.back()); });
  const std::size_t messages = sent.size();
  for (int i = 0; i < 20; ++i) loop.turn(milliseconds(5));
  EXPECT_EQ(sent.size(), messages) << "something came after the refusal";
  EXPECT_LT(messages, 6u);
}

// ---- turns --------------------------------------------------------------------------------------

struct LauncherBlobTurnsTest : LauncherBlobServiceTest {
  // A tree whose only folder names so many files that are not here.
  Digest put_absent(int number, int files) {
    snapshot::Directory folder;
    for (int i = 0; i < files; ++i) {
      const std::string name = fmt::format("f{:06}", i);
      folder.entries.push_back({name, snapshot::EntryKind::file, 0644, 1,
                                sha256(fmt::format("{} {}", number, name)), ""});
    }
    const std::string bytes = encode(folder);
    EXPECT_TRUE(store->put(sha256(bytes), bytes));
    return sha256(bytes);
  }
  void check(const std::string& who, const Digest& root) {
    service.check(who, {who, {}, who.starts_with("node")}, root,
                  [this, who](const Result<bool>&) { answered.push_back(who); });
  }
  std::ptrdiff_t place_of(const std::string& who) const {
    return std::find(answered.begin(), answered.end(), who) - answered.begin();
  }
  std::vector<std::string> answered;
};

TEST_F(LauncherBlobTurnsTest, OneUsersTreesDelayNeitherAnotherUserNorANode) {
  // Large ones: five of them take longer than a busy machine keeps a thread waiting.
  constexpr int kTrees = 30, kFiles = 40'000;
  std::vector<Digest> roots;
  for (int i = 0; i < kTrees; ++i) roots.push_back(put_absent(i, kFiles));
  for (const Digest& root : roots) check("user bob", root);
  check("user alice", put_absent(1'000, 1));
  check("node 1", put_absent(1'001, 1));
  turn_until([&] { return answered.size() == kTrees + 2; });
  EXPECT_LT(place_of("user alice"), 5);
  EXPECT_LT(place_of("node 1"), 5);
}

TEST_F(LauncherBlobTurnsTest, MergesAndMeasuresOfOneUserTakeTurnsToo) {
  const Digest root = put_absent(1, 5'000);
  for (int i = 0; i < 60; ++i) {
    service.measure("user bob", root,
                    [this](const Result<Bytes>&) { answered.push_back("user bob"); });
    service.merge("user bob", {JobId("j"), {{"out", OutputType::uri_folder, {{0, root}}}}},
                  [this](const auto&) { answered.push_back("user bob"); });
    service.find_tree("user bob", {{{0, root}}, ""},
                      [this](const auto&) { answered.push_back("user bob"); });
  }
  check("user alice", put_absent(1'000, 1));
  turn_until([&] { return answered.size() == 181; });
  EXPECT_LT(place_of("user alice"), 5);
}

TEST_F(LauncherBlobTurnsTest, WhatOneUserSendsDelaysNeitherAnotherUserNorANode) {
  const auto from = [](const std::string& who, std::uint64_t sequence) {
    BlobService::From from{who, PublicKey{who}, sequence};
    from.principal = who;
    from.owner = {who, {}, who == "node 1"};
    from.is_node = who == "node 1";
    return from;
  };
  std::vector<PutBlobs> puts;
  for (unsigned i = 0; i < 40; ++i) {
    const std::string blob = test::noise(kMaxPieceBytes, i);
    puts.push_back({{snapshot::make_piece(sha256(blob), blob.size(), 0, blob)}});
  }
  for (std::uint64_t i = 0; i < puts.size(); ++i)
    service.handle(from("user bob", i), std::move(puts[i]));
  service.handle(from("user alice", 1), MissingBlobs{{sha256("hers")}});
  service.handle(from("node 1", 1), MissingBlobs{{sha256("its")}});
  turn_until([&] { return sent.size() == 42; });
  int after = 0;  // of bob's answers, those that came before both of the others
  for (std::size_t i = 0, others = 0; i < sent.size() && others < 2; ++i)
    std::holds_alternative<MissingBlobsReply>(sent[i]) ? ++others : ++after;
  EXPECT_LT(after, 8);
}

TEST_F(LauncherBlobTurnsTest, ABoundIsOfAUserAndNotOfAConnection) {
  const std::string blob = test::noise(kMaxPieceBytes);
  int refused = 0;
  for (int i = 0; i < 70; ++i) {
    BlobService::From from{"connection " + std::to_string(i), PublicKey{"key"}, 1};
    from.principal = "user bob";
    sent.clear();
    service.handle(from, PutBlobs{{snapshot::make_piece(sha256(blob), blob.size(), 0, blob)}});
    if (sent.empty()) continue;
    ASSERT_TRUE(std::holds_alternative<BulkRefused>(sent[0]));
    EXPECT_TRUE(std::get<BulkRefused>(sent[0]).for_now);
    EXPECT_NE(std::get<BulkRefused>(sent[0]).message.find("user bob already has"),
              std::string::npos);
    ++refused;
  }
  EXPECT_GE(refused, 5) << "of 70 MiB, 64 MiB may be in flight";
}

TEST_F(LauncherBlobTurnsTest, AllWhoAskTheSameGetOneAnswer) {
  const Digest root = put_absent(1, 100);
  for (int i = 0; i < 2'000; ++i) check("user bob", root);
  turn_until([&] { return answered.size() == 2'000; });
}

}  // namespace
}  // namespace lockstep::launcher
