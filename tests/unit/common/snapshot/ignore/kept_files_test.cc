#include "common/snapshot/ignore/kept_files.h"

#include <gtest/gtest.h>

namespace lockstep::snapshot {
namespace {

// Whether `path` is kept, each of its folders looked at before it as a scan does.
bool kept(const std::vector<std::string>& patterns, std::string_view path,
          bool is_directory = false) {
  const KeepPatterns keep(patterns);
  KeepPatterns::Matches matches;
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
    matches = keep.match(path.substr(0, slash), true, matches);
  return keep.keeps(keep.match(path, is_directory, matches));
}

TEST(Keep, NamesMatchAtAnyDepthAndPathsFromTheRoot) {
  EXPECT_TRUE(kept({"*.pt"}, "model.pt"));
  EXPECT_TRUE(kept({"*.pt"}, "a/b/model.pt"));
  EXPECT_FALSE(kept({"/*.pt"}, "a/model.pt"));
  EXPECT_TRUE(kept({"a/b"}, "a/b/c/d"));
  EXPECT_FALSE(kept({"a/b"}, "x/a/b"));
  EXPECT_TRUE(kept({"**/b"}, "x/a/b"));
  EXPECT_TRUE(kept({"a/**/z"}, "a/b/c/z"));
  EXPECT_TRUE(kept({"run-[0-9]/"}, "run-1/x"));
}

TEST(Keep, ASlashAtTheEndIsAFolderAndAllInIt) {
  EXPECT_FALSE(kept({"checkpoints/"}, "checkpoints"));
  EXPECT_TRUE(kept({"checkpoints/"}, "checkpoints", true));
  EXPECT_TRUE(kept({"checkpoints/"}, "a/checkpoints/1/weights"));
}

TEST(Keep, TheLastPatternOfThePathOrAFolderAboveItDecides) {
  EXPECT_FALSE(kept({"checkpoints/", "!*.tmp"}, "checkpoints/1/x.tmp"));
  EXPECT_TRUE(kept({"checkpoints/", "!*.tmp"}, "checkpoints/1/x"));
  EXPECT_TRUE(kept({"!*.tmp", "checkpoints/"}, "checkpoints/1/x.tmp"));
  EXPECT_TRUE(kept({"*", "!a/", "a/b"}, "a/b"));
  EXPECT_FALSE(kept({"*", "!a/", "a/b"}, "a/c"));
  EXPECT_FALSE(kept({}, "a"));
}

TEST(Keep, PatternsThatMatchedNothingAreNamedButNotThoseThatTakeOut) {
  const KeepPatterns keep({"*.pt", "model.pt", "!*.tmp", "none"});
  const auto seen = keep.match("model.pt", false, {});
  EXPECT_EQ(keep.unmatched(seen), (std::vector<std::uint32_t>{3}));
}

}  // namespace
}  // namespace lockstep::snapshot
