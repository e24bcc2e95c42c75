#include "common/snapshot/tree_difference.h"

#include <gtest/gtest.h>

#include <map>

#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {
namespace {

class TreeDifference : public testing::Test {
 protected:
  Digest put(std::vector<Entry> entries) {
    const std::string bytes = encode(Directory{std::move(entries)});
    objects_[sha256(bytes)] = bytes;
    return sha256(bytes);
  }
  static Entry file(const std::string& name, const std::string& content, int mode = 0644) {
    return {name,           EntryKind::file, static_cast<std::uint32_t>(mode),
            content.size(), sha256(content), ""};
  }
  static Entry folder(const std::string& name, const Digest& digest) {
    return {name, EntryKind::directory, 0755, 1, digest, ""};
  }
  FileChanges compare(const std::optional<Digest>& was, const std::optional<Digest>& is,
                      std::uint64_t max_entries = kMaxComparedEntries) {
    auto found = tree_difference(
        was, is,
        [this](const Digest& digest) -> Result<std::string> {
          ++reads_;
          const auto object = objects_.find(digest);
          if (object == objects_.end()) return make_error(ErrorCode::not_found, "no such object");
          return object->second;
        },
        max_entries);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : FileChanges{};
  }

  std::map<Digest, std::string> objects_;
  int reads_ = 0;
};

TEST_F(TreeDifference, CountsWhatWasAddedRemovedAndChanged) {
  const Digest was = put({file("a", "1"), file("b", "1"), file("c", "1"), file("d", "1")});
  const Digest is = put({file("a", "1"), file("b", "2"), file("d", "1", 0755), file("e", "1")});
  EXPECT_EQ(compare(was, is), (FileChanges{1, 1, 2, "b"}));
  EXPECT_EQ(compare(was, was), FileChanges{});
  EXPECT_EQ(compare(std::nullopt, was), (FileChanges{4, 0, 0, "a"})) << "no tree is an empty one";
  EXPECT_EQ(compare(was, std::nullopt), (FileChanges{0, 4, 0, "a"}));
}

TEST_F(TreeDifference, FoldersThatAreTheSameAreNotRead) {
  const Digest same = sha256("a folder that nobody has");
  const Digest was =
      put({folder("data", put({file("x", "1"), file("y", "1")})), folder("same", same)});
  const Digest is =
      put({folder("data", put({file("x", "1"), file("y", "2")})), folder("same", same)});
  EXPECT_EQ(compare(was, is), (FileChanges{0, 0, 1, "data/y"}));
  EXPECT_EQ(reads_, 4);
}

TEST_F(TreeDifference, AFileMayBecomeAFolder) {
  const Digest inner = put({file("x", "1"), file("y", "1")});
  const Digest was = put({file("a", "1")}), is = put({folder("a", inner)});
  EXPECT_EQ(compare(was, is), (FileChanges{2, 1, 0, "a"}));
  EXPECT_EQ(compare(is, was), (FileChanges{1, 2, 0, "a"}));
  const Entry link{"a", EntryKind::symlink, 0, 0, {}, "b"};
  EXPECT_EQ(compare(was, put({link})), (FileChanges{0, 0, 1, "a"}));
}

TEST_F(TreeDifference, TheCountEndsAtALimit) {
  std::vector<Entry> many;
  for (int i = 100; i < 200; ++i) many.push_back(file(std::to_string(i), "1"));
  EXPECT_EQ(compare(std::nullopt, put(many), 50), (FileChanges{50, 0, 0, "100", true}));
  EXPECT_EQ(compare(std::nullopt, put(many), 100), (FileChanges{100, 0, 0, "100"}));
}

TEST_F(TreeDifference, AnObjectThatIsMissingIsAnError) {
  const auto read = [](const Digest&) -> Result<std::string> {
    return make_error(ErrorCode::not_found, "gone");
  };
  EXPECT_EQ(tree_difference(sha256("a"), sha256("b"), read).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace lockstep::snapshot
