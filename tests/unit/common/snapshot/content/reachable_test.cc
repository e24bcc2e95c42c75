#include "common/snapshot/content/reachable.h"

#include <fmt/format.h>

#include "common/snapshot/manifest.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

struct ReachableTest : ::testing::Test {
  Digest put(const std::string& raw) {
    EXPECT_TRUE(store->put(sha256(raw), raw));
    return sha256(raw);
  }
  // A folder of so many files that differ, of which none is here.
  Digest folder_of(std::size_t files, const std::string& prefix) {
    Directory directory;
    for (std::size_t i = 0; i < files; ++i)
      directory.entries.push_back({fmt::format("f{:07}", i), EntryKind::file, 0644, 1,
                                   sha256(fmt::format("{}{}", prefix, i)), ""});
    return put(encode(directory));
  }
  TempDir dir, source;
  std::unique_ptr<BlobStore> store = *BlobStore::open(dir / "blobs");
};

TEST_F(ReachableTest, IsTheRootAndAllBelowItAndNothingElse) {
  source.file("a/b/deep", "deep");
  source.file("top", "top");
  source.link("/etc/passwd", "link");
  const auto tree = *capture(source.path(), {});
  store_all(tree, *store);
  const Digest other = put("other");
  const auto all = reachable_from(*store, tree.root);
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->is_whole());
  for (const auto& object : tree.directories) EXPECT_TRUE(all->has(object.digest));
  for (const auto& file : tree.files) EXPECT_TRUE(all->has(file.digest));
  EXPECT_FALSE(all->has(other));
  EXPECT_FALSE(all->has(sha256("never seen")));
  EXPECT_EQ(all->keys().size(), 5u);
}

// Whoever calls a file a folder, in a tree of theirs, gets no more by it.
TEST_F(ReachableTest, AFileIsATreeOfOneBlob) {
  const Digest file = put("just bytes");
  const auto all = reachable_from(*store, file);
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->has(file));
  EXPECT_EQ(all->keys().size(), 1u);
}

TEST_F(ReachableTest, WhatIsNotWholeIsLookedAtAgain) {
  source.file("a/file", "content");
  const auto tree = *capture(source.path(), {});
  for (const auto& object : tree.directories) {
    if (object.digest != tree.root) continue;
    ASSERT_TRUE(store->put(object.digest, object.bytes));
  }
  ReachableTrees trees(*store, 1 << 20);
  EXPECT_FALSE((*trees.find(tree.root))->is_whole());
  EXPECT_EQ(trees.known(tree.root), nullptr);
  store_all(tree, *store);
  EXPECT_TRUE((*trees.find(tree.root))->has(sha256("content")));
  EXPECT_NE(trees.known(tree.root), nullptr);
}

TEST_F(ReachableTest, TheSetsThatWereUsedLastAreKeptUpToABound) {
  std::vector<Digest> roots;
  for (int i = 0; i < 5; ++i) roots.push_back(folder_of(1'000, std::to_string(i)));
  ReachableTrees trees(*store, 3 * 1'001 * sizeof(DigestKey));
  for (const Digest& root : roots) ASSERT_TRUE(trees.find(root));
  EXPECT_EQ(trees.bytes(), 3 * 1'001 * sizeof(DigestKey));
  EXPECT_EQ(trees.known(roots[0]), nullptr);
  ASSERT_NE(trees.known(roots[2]), nullptr);
  ASSERT_TRUE(trees.find(roots[0]));
  EXPECT_EQ(trees.known(roots[3]), nullptr) << "used longer ago than the one before it";
  EXPECT_NE(trees.known(roots[2]), nullptr);
}

TEST_F(ReachableTest, AMillionFilesTakeSixteenBytesEach) {
  const Digest root = folder_of(1'000'000, "x");
  ReachableTrees trees(*store, 1 << 20);
  const auto set = trees.find(root);
  ASSERT_TRUE(set);
  EXPECT_TRUE((*set)->has(sha256("x999999")));
  EXPECT_FALSE((*set)->has(sha256("x1000000")));
  EXPECT_EQ((*set)->bytes(), 1'000'001 * sizeof(DigestKey));
  EXPECT_NE(trees.known(root), nullptr) << "the last one is kept, however large";
}

}  // namespace
}  // namespace lockstep::snapshot
