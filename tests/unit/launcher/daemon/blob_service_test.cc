// Streams of blobs whose receiver may not read them any more.

#include "launcher/daemon/blob_service.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

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

}  // namespace
}  // namespace lockstep::launcher
