// Which blobs somebody may refer to, and how they show that they have one.

#include "launcher/daemon/blobs/rights.h"

#include <gtest/gtest.h>

#include "common/snapshot/content/compress.h"
#include "tests/unit/common/snapshot/trees.h"
#include "tests/unit/support/noise.h"

namespace lockstep::launcher {
namespace {

using snapshot::BlobStore;

struct BlobRightsTest : ::testing::Test {
  BlobRightsTest() {
    source.file("a/file", "content");
    source.file("top", "top");
    tree = *snapshot::capture(source.path(), {});
    snapshot::store_all(tree, *store);
  }
  std::vector<Digest> all_of_tree() const {
    std::vector<Digest> all;
    for (const auto& object : tree.directories) all.push_back(object.digest);
    for (const auto& file : tree.files) all.push_back(file.digest);
    return all;
  }
  Result<bool> show(const std::string& blob, std::size_t piece, const std::string& bytes) {
    return rights.shown(
        bob, snapshot::make_piece(sha256(blob), blob.size(), piece * kMaxPieceBytes, bytes));
  }
  test::TempDir dir, source;
  std::unique_ptr<BlobStore> store = *BlobStore::open(dir / "blobs");
  std::unique_ptr<BlobLedger> ledger = *BlobLedger::open(dir / "blobs.sent");
  BlobRights rights{*store, *ledger};
  snapshot::Snapshot tree;
  const BlobOwner alice{"user alice", {}, false};
  const BlobOwner bob{"user bob", {}, false};
};

TEST_F(BlobRightsTest, ATreeIsOfWhoSentAllOfIt) {
  EXPECT_FALSE(*rights.owns_tree(alice, tree.root));
  auto most = all_of_tree();
  const Digest last = most.back();
  most.pop_back();
  ASSERT_TRUE(rights.sent(alice, most));
  EXPECT_FALSE(*rights.owns_tree(alice, tree.root));
  EXPECT_EQ(*rights.foreign(alice, all_of_tree()), std::vector{last});
  ASSERT_TRUE(rights.sent(alice, {last}));
  EXPECT_TRUE(*rights.owns_tree(alice, tree.root));
  EXPECT_FALSE(*rights.owns_tree(bob, tree.root));
  EXPECT_EQ(*rights.foreign(bob, all_of_tree()), all_of_tree());
}

TEST_F(BlobRightsTest, WhatIsInATreeOfTheirsNeedNotBeSentAgain) {
  const BlobOwner node{"node 1", {tree.root}, true};
  EXPECT_TRUE(rights.foreign(node, all_of_tree())->empty());
  EXPECT_TRUE(*rights.owns_tree(node, tree.root));
  const Digest other = sha256("other");
  ASSERT_TRUE(store->put(other, "other"));
  EXPECT_EQ(*rights.foreign(node, {other, tree.root}), std::vector{other});
}

TEST_F(BlobRightsTest, ATreeThatLacksSomethingIsNobodys) {
  test::TempDir more;
  more.file("f", "not here");
  const auto cut = *snapshot::capture(more.path(), {});
  ASSERT_TRUE(store->put(cut.root, cut.directories[0].bytes));
  ASSERT_TRUE(rights.sent(alice, {cut.root, sha256("not here")}));
  EXPECT_FALSE(*rights.owns_tree(alice, cut.root));
}

TEST_F(BlobRightsTest, ATreeThatFailedIsNotWalkedAgainUntilWhatItLackedIsThere) {
  test::TempDir more;
  more.file("f", "not here yet");
  const auto cut = *snapshot::capture(more.path(), {});
  ASSERT_TRUE(store->put(cut.root, cut.directories[0].bytes));
  ASSERT_TRUE(rights.sent(alice, {cut.root, sha256("not here yet")}));
  int looks = 0;
  const auto count = [&]() -> Status {
    ++looks;
    return {};
  };
  EXPECT_FALSE(*rights.owns_tree(alice, cut.root, count));
  EXPECT_GT(looks, 0);
  looks = 0;
  for (int i = 0; i < 600; ++i) EXPECT_FALSE(*rights.owns_tree(alice, cut.root, count));
  EXPECT_EQ(looks, 0);
  ASSERT_TRUE(store->put(sha256("not here yet"), "not here yet"));
  EXPECT_TRUE(*rights.owns_tree(alice, cut.root, count));
}

TEST_F(BlobRightsTest, ATreeOfOthersIsNotWalkedAgainUntilItsBlobsWereSent) {
  int looks = 0;
  const auto count = [&]() -> Status {
    ++looks;
    return {};
  };
  EXPECT_FALSE(*rights.owns_tree(bob, tree.root, count));
  EXPECT_GT(looks, 0);
  looks = 0;
  EXPECT_FALSE(*rights.owns_tree(bob, tree.root, count));
  EXPECT_EQ(looks, 0);
  BlobOwner with_job = bob;  // of which it is the source
  with_job.trees = {tree.root};
  EXPECT_TRUE(*rights.owns_tree(with_job, tree.root, count));
}

TEST_F(BlobRightsTest, AWalkThatIsStoppedSaysSoAndIsNotRemembered) {
  const auto stop = []() -> Status { return make_error(ErrorCode::unavailable, "the end"); };
  ASSERT_TRUE(rights.sent(alice, all_of_tree()));
  const auto stopped = rights.owns_tree(alice, tree.root, stop);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "the end");
  EXPECT_TRUE(*rights.owns_tree(alice, tree.root));
}

TEST_F(BlobRightsTest, ABlobIsShownByAllItsBytes) {
  const std::string small = "small", large = test::noise(5 * kMaxPieceBytes / 2, 1);
  for (const auto& blob : {small, large}) ASSERT_TRUE(store->put(sha256(blob), blob));
  EXPECT_TRUE(*show(small, 0, small));
  EXPECT_FALSE(show(small, 0, "SMALL"));
  const auto part = [&](std::size_t i) { return large.substr(i * kMaxPieceBytes, kMaxPieceBytes); };
  EXPECT_FALSE(*show(large, 2, part(2)));
  EXPECT_FALSE(*show(large, 2, part(2)));
  EXPECT_FALSE(*show(large, 0, part(0)));
  EXPECT_TRUE(*show(large, 1, part(1)));
}

// As with a blob that is new: before all of it came nobody hears whether it is here.
TEST_F(BlobRightsTest, AWrongPieceIsToldAtTheEnd) {
  const std::string large = test::noise(2 * kMaxPieceBytes, 1);
  ASSERT_TRUE(store->put(sha256(large), large));
  EXPECT_FALSE(*show(large, 0, std::string(kMaxPieceBytes, 'x')));
  const auto end = show(large, 1, large.substr(kMaxPieceBytes));
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::corrupt);
  EXPECT_FALSE(*show(large, 0, large.substr(0, kMaxPieceBytes))) << "it begins anew";
  EXPECT_TRUE(*show(large, 1, large.substr(kMaxPieceBytes)));
}

TEST_F(BlobRightsTest, AnotherSizeShowsNothingAndTakesNoMemory) {
  const std::string large = test::noise(2 * kMaxPieceBytes, 1);
  ASSERT_TRUE(store->put(sha256(large), large));
  BlobPiece piece = snapshot::make_piece(sha256(large), std::uint64_t{1} << 61, 0,
                                         large.substr(0, kMaxPieceBytes));
  EXPECT_FALSE(*rights.shown(bob, piece));
}

}  // namespace
}  // namespace lockstep::launcher
