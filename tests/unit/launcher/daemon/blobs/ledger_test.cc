// Who sent which blob, over restarts, collections and too many rows.

#include "launcher/daemon/blobs/ledger.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/fakes/disk/faults.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using snapshot::DigestKey;
using snapshot::key_of;

std::vector<DigestKey> keys(const std::string& prefix, int count) {
  std::vector<DigestKey> made;
  for (int i = 0; i < count; ++i) made.push_back(key_of(sha256(prefix + std::to_string(i))));
  std::sort(made.begin(), made.end());
  return made;
}

struct BlobLedgerTest : ::testing::Test {
  std::unique_ptr<BlobLedger> open(std::size_t most = kMaxLedgerRows) {
    auto opened = BlobLedger::open(path, most);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  test::TempDir dir;
  const std::string path = dir / "blobs.sent";
};

TEST_F(BlobLedgerTest, WhatOneSentIsNotAnothers) {
  const auto ledger = open();
  ASSERT_TRUE(ledger->add("user alice", keys("a", 3), false));
  EXPECT_TRUE(ledger->not_sent("user alice", keys("a", 3)).empty());
  EXPECT_EQ(ledger->not_sent("user bob", keys("a", 3)).size(), 3u);
  EXPECT_EQ(ledger->not_sent("node 1", keys("a", 3)).size(), 3u);
}

TEST_F(BlobLedgerTest, RowsOutliveTheLauncherAndACutOneIsDropped) {
  ASSERT_TRUE(open()->add("node 7", keys("a", 100), true));
  const auto size = static_cast<off_t>(io::read_file(path)->size());
  ASSERT_EQ(::truncate(path.c_str(), size - 5), 0);
  {
    const auto ledger = open();
    EXPECT_EQ(ledger->rows(), 99u);
    ASSERT_TRUE(ledger->add("node 7", keys("b", 1), true));
  }
  const auto again = open();
  EXPECT_EQ(again->rows(), 100u);
  EXPECT_TRUE(again->has("node 7", keys("b", 1)[0]));
}

// Half a row stayed at the end; all later ones were garbage after a restart, and the node's outputs
// were refused.
TEST_F(BlobLedgerTest, ADiskThatSaysNoCostsOnlyTheRowsThatWereRefused) {
  const int runs = test::each_fault([this](test::DiskFaults& faults, const std::string& where) {
    SCOPED_TRACE(where);
    std::vector<bool> was_taken;
    {
      const auto ledger = open();
      ASSERT_TRUE(ledger->add("node 1", keys("before", 5), true));
      {
        const io::disk::InFront front(faults);
        for (int i = 0; i < 3; ++i) {
          const Status added = ledger->add("node 1", keys("b" + std::to_string(i), 5), true);
          was_taken.push_back(added.has_value());
          EXPECT_EQ(ledger->not_sent("node 1", keys("b" + std::to_string(i), 5)).size(),
                    was_taken[i] ? 0u : 5u)
              << i;
        }
      }
      ASSERT_TRUE(ledger->add("node 1", keys("after", 5), true));
    }
    const auto again = BlobLedger::open(path);
    ASSERT_TRUE(again) << again.error().message;
    for (const char* const kept : {"before", "after"})
      EXPECT_TRUE((*again)->not_sent("node 1", keys(kept, 5)).empty()) << kept;
    for (int i = 0; i < 3; ++i)
      if (was_taken[i]) {
        EXPECT_TRUE((*again)->not_sent("node 1", keys("b" + std::to_string(i), 5)).empty()) << i;
      }
    ASSERT_EQ(::unlink(path.c_str()), 0);
  });
  EXPECT_GT(runs, 15);
}

TEST_F(BlobLedgerTest, ATornEndDoesNotKeepALauncherOnAFullDiskFromStarting) {
  ASSERT_TRUE(open()->add("node 7", keys("a", 100), true));
  const auto size = static_cast<off_t>(io::read_file(path)->size());
  ASSERT_EQ(::truncate(path.c_str(), size - 5), 0);
  std::unique_ptr<BlobLedger> ledger;
  {
    using io::disk::Call;
    test::DiskFaults full({"full", ENOSPC, true, true, {Call::write, Call::resize}}, 1);
    const io::disk::InFront front(full);
    ledger = open();
    ASSERT_TRUE(ledger);
    EXPECT_EQ(ledger->rows(), 99u);
    EXPECT_FALSE(ledger->add("node 7", keys("b", 1), true));
  }
  ASSERT_TRUE(ledger->add("node 7", keys("c", 1), true));
  ledger.reset();
  const auto again = open();
  EXPECT_EQ(again->rows(), 100u);
  EXPECT_TRUE(again->has("node 7", keys("c", 1)[0]));
}

TEST_F(BlobLedgerTest, RowsGoWithTheirBlobsButNotThoseThatCameMeanwhile) {
  const auto ledger = open();
  ASSERT_TRUE(ledger->add("user alice", keys("old", 10), false));
  ASSERT_TRUE(ledger->add("user alice", keys("kept", 10), false));
  ledger->begin_trim();
  ASSERT_TRUE(ledger->add("node 1", keys("new", 10), true));
  ASSERT_TRUE(ledger->keep_only(keys("kept", 10)));
  EXPECT_EQ(ledger->not_sent("user alice", keys("old", 10)).size(), 10u);
  EXPECT_TRUE(ledger->not_sent("user alice", keys("kept", 10)).empty());
  EXPECT_TRUE(ledger->not_sent("node 1", keys("new", 10)).empty());
}

TEST_F(BlobLedgerTest, WhoFillsItLosesTheirOwnOldestRowsAndNobodyElseAny) {
  const auto ledger = open(320);
  ASSERT_TRUE(ledger->add("user alice", keys("a", 20), false));
  ASSERT_TRUE(ledger->add("node 1", keys("n", 20), true));
  for (int i = 0; i < 30; ++i)
    ASSERT_TRUE(ledger->add("user bob", keys("b" + std::to_string(i), 20), false));
  EXPECT_TRUE(ledger->not_sent("user alice", keys("a", 20)).empty());
  EXPECT_TRUE(ledger->not_sent("node 1", keys("n", 20)).empty());
  EXPECT_EQ(ledger->not_sent("user bob", keys("b0", 20)).size(), 20u);
  EXPECT_TRUE(ledger->not_sent("user bob", keys("b29", 20)).empty());
  EXPECT_LE(ledger->rows(), 320u);
  EXPECT_GE(ledger->rows(), 280u) << "not more than must go";
}

TEST_F(BlobLedgerTest, OneWhoIsAloneMayHaveAllRows) {
  const auto ledger = open(320);
  ASSERT_TRUE(ledger->add("user a", keys("a", 320), false));
  EXPECT_TRUE(ledger->not_sent("user a", keys("a", 320)).empty());
}

TEST_F(BlobLedgerTest, TheBoundHoldsAfterARestartToo) {
  {
    const auto ledger = open(1'000);
    ASSERT_TRUE(ledger->add("user alice", keys("a", 20), false));
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE(ledger->add("user bob", keys("b" + std::to_string(i), 60), false));
  }
  const auto ledger = open(320);
  EXPECT_TRUE(ledger->not_sent("user alice", keys("a", 20)).empty());
  EXPECT_TRUE(ledger->not_sent("user bob", keys("b9", 60)).empty());
  EXPECT_LE(ledger->rows(), 320u);
}

}  // namespace
}  // namespace lockstep::launcher
