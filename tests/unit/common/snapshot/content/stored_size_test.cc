#include "common/snapshot/content/stored_size.h"

#include "common/snapshot/manifest.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

Digest put(BlobStore& store, const std::string& raw) {
  EXPECT_TRUE(store.put(sha256(raw), raw));
  return sha256(raw);
}

Digest put(BlobStore& store, std::vector<Entry> entries) {
  return put(store, encode(Directory{std::move(entries)}));
}

TEST(TreeSize, IsThatOfAllFilesHoweverOftenTheyAreNamed) {
  TempDir dir;
  const auto store = BlobStore::open(dir / "blobs").value();
  const Digest file = put(*store, std::string(1'000, 'x'));
  const Digest folder =
      put(*store, std::vector<Entry>{{"f", EntryKind::file, 0644, 1'000, file, ""}});
  const Digest root = put(*store, {{"a", EntryKind::directory, 0755, 0, folder, ""},
                                   {"b", EntryKind::directory, 0755, 0, folder, ""},
                                   {"c", EntryKind::file, 0644, 1'000, file, ""},
                                   {"l", EntryKind::symlink, 0, 0, {}, "c"}});
  EXPECT_EQ(tree_size(*store, root).value(), Bytes{3'000});
  EXPECT_EQ(tree_size(*store, put(*store, std::vector<Entry>{})).value(), Bytes{0});
}

TEST(TreeSize, OfWhatIsStoredHasTheListsOfNamesToo) {
  TempDir dir;
  const auto store = BlobStore::open(dir / "blobs").value();
  const Digest file = put(*store, "");
  std::vector<Entry> entries;
  for (int i = 0; i < 100; ++i)
    entries.push_back(
        {std::string(200, 'n') + std::to_string(100 + i), EntryKind::file, 0644, 0, file, ""});
  const std::string folder = encode(Directory{entries});
  const Digest root = put(*store, folder);
  EXPECT_EQ(tree_size(*store, root).value(), Bytes{0});
  EXPECT_EQ(stored_size(*store, root).value(), Bytes{folder.size()});
  const std::string twice = encode(Directory{{{"a", EntryKind::directory, 0755, 0, root, ""},
                                              {"b", EntryKind::directory, 0755, 0, root, ""}}});
  EXPECT_EQ(stored_size(*store, put(*store, twice)).value(),
            Bytes{twice.size() + 2 * folder.size()});
}

TEST(TreeSize, FoldersThatNameEachOtherManyTimesCostLittleAndAreTooLarge) {
  TempDir dir;
  const auto store = BlobStore::open(dir / "blobs").value();
  Digest below =
      put(*store, std::vector<Entry>{{"f", EntryKind::file, 0644, 5, put(*store, "12345"), ""}});
  for (int level = 0; level < 100; ++level)
    below = put(*store, {{"a", EntryKind::directory, 0755, 0, below, ""},
                         {"b", EntryKind::directory, 0755, 0, below, ""}});
  EXPECT_EQ(tree_size(*store, below).value(), Bytes{UINT64_MAX});
}

TEST(TreeSize, WhatIsNotHereIsAnError) {
  TempDir dir;
  const auto store = BlobStore::open(dir / "blobs").value();
  EXPECT_EQ(tree_size(*store, sha256("nothing")).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace lockstep::snapshot
