// Streams of blobs whose receiver may not read them any more.

#include "launcher/daemon/blob_service.h"

#include <gtest/gtest.h>

#include <vector>

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
