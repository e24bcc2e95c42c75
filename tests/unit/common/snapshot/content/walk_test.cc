// Walks over trees that somebody else made: they end early, within bounds, and pause.

#include "common/snapshot/content/walk.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "common/snapshot/content/reachable.h"
#include "common/snapshot/content/stored_size.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

using testing::HasSubstr;

class WalkTest : public testing::Test {
 protected:
  // A folder of files that are not in the store.
  static Directory of_absent_files(int files, const std::string& kind) {
    Directory folder;
    for (int i = 0; i < files; ++i) {
      const std::string name = fmt::format("f{:07}", i);
      folder.entries.push_back({name, EntryKind::file, 0644, 1, sha256(kind + name), ""});
    }
    return folder;
  }
  Digest put(const Directory& folder) {
    const std::string bytes = encode(folder);
    EXPECT_TRUE(store->put(sha256(bytes), bytes));
    return sha256(bytes);
  }
  static Entry folder_entry(const std::string& name, const Digest& digest) {
    return {name, EntryKind::directory, 0755, 0, digest, ""};
  }
  // Folders in each other; the innermost is empty.
  Digest nested(int levels) {
    Digest inner = put({});
    for (int i = 0; i < levels; ++i) inner = put({{folder_entry("d", inner)}});
    return inner;
  }
  Pause counting() {
    return [this]() -> Status {
      ++pauses;
      return {};
    };
  }

  TempDir dir;
  std::unique_ptr<BlobStore> store = *BlobStore::open(dir / "blobs");
  int pauses = 0;
};

TEST_F(WalkTest, AWalkForOneMissingBlobEndsAtTheFirst) {
  const Digest root = put(of_absent_files(40'000, "a"));
  Walk walk = bounded_walk(counting());
  walk.most_missing = 1;
  EXPECT_EQ(store->missing_from(root, walk)->size(), 1u);
  EXPECT_LT(pauses, 10) << "it did not look at each entry";
  EXPECT_EQ(store->missing_from(root)->size(), 40'000u) << "who asks for all gets all";
}

TEST_F(WalkTest, AFolderThatWasFoundIncompleteIsNotReadAgainWhateverNamesIt) {
  const Digest folder = put(of_absent_files(1'000, "a"));
  Walk walk = bounded_walk(counting());
  walk.most_missing = 1;
  const auto first = store->missing_from(put({{folder_entry("x", folder)}}), walk);
  ASSERT_EQ(first->size(), 1u);
  const int of_two_folders = std::exchange(pauses, 0);
  EXPECT_EQ(*store->missing_from(put({{folder_entry("y", folder)}}), walk), *first);
  EXPECT_LT(pauses, of_two_folders);
  const std::string bytes = "af0000000";
  ASSERT_EQ(first->front(), sha256(bytes));
  ASSERT_TRUE(store->put(first->front(), bytes));
  EXPECT_EQ(*store->missing_from(folder, walk), std::vector{sha256("af0000001")});
}

TEST_F(WalkTest, ALargeFolderPausesOnTheWay) {
  const Digest root = put(of_absent_files(50'000, "a"));
  EXPECT_EQ(store->missing_from(root, bounded_walk(counting()))->size(), 50'000u);
  EXPECT_GE(pauses, 12);
  pauses = 0;
  EXPECT_TRUE(reachable_from(*store, root, bounded_walk(counting())));
  EXPECT_GE(pauses, 12);
  pauses = 0;
  EXPECT_TRUE(tree_size(*store, root, bounded_walk(counting())));
  EXPECT_GE(pauses, 12);
}

TEST_F(WalkTest, AnErrorOfThePauseEndsTheWalk) {
  const Digest root = put(of_absent_files(10'000, "a"));
  const auto end = []() -> Status { return make_error(ErrorCode::unavailable, "the end"); };
  EXPECT_EQ(store->missing_from(root, bounded_walk(end)).error().message, "the end");
  EXPECT_EQ(reachable_from(*store, root, bounded_walk(end)).error().message, "the end");
}

TEST_F(WalkTest, EntriesBytesAndLevelsAreBounded) {
  const Digest root = put(of_absent_files(1'000, "a"));
  Walk few;
  few.most_entries = 999;
  EXPECT_EQ(store->missing_from(root, few).error().code, ErrorCode::invalid_argument)
      << "not resource_exhausted: that is a full disk, after which callers try again";
  EXPECT_THAT(reachable_from(*store, root, few).error().message, HasSubstr("more than 999 files"));
  EXPECT_THAT(tree_size(*store, root, few).error().message, HasSubstr("more than 999 files"));
  Walk small;
  small.most_bytes = 100;
  EXPECT_THAT(store->missing_from(root, small).error().message, HasSubstr("more than 100 B"));
  Walk flat;
  flat.most_depth = 3;
  EXPECT_THAT(store->missing_from(nested(4), flat).error().message, HasSubstr("3 levels"));
  EXPECT_TRUE(store->missing_from(nested(3), flat)->empty());
  EXPECT_THAT(reachable_from(*store, nested(4), flat).error().message, HasSubstr("3 levels"));
}

TEST_F(WalkTest, AVisitOfEntriesEndsWhenItIsTold) {
  const std::string bytes = encode(of_absent_files(10, "a"));
  int seen = 0;
  EXPECT_TRUE(each_entry(bytes, [&](const Entry&) { return ++seen < 3; }));
  EXPECT_EQ(seen, 3);
  EXPECT_FALSE(each_entry(bytes.substr(0, bytes.size() - 1), [](const Entry&) { return true; }));
}

}  // namespace
}  // namespace lockstep::snapshot
