// Indexes as git writes them (gitformat-index(5)), made by hand in each version, and broken ones.

#include "common/snapshot/ignore/git_index.h"

#include <gmock/gmock.h>

#include <cstdint>

#include "common/snapshot/capture/scan.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kFile = 0100644, kSubmodule = 0160000, kFolder = 0040000;

std::string number(std::uint32_t value, int bytes = 4) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>((value >> (8 * i)) & 0xFF);
  return text;
}

struct IndexEntry {
  std::string path;
  std::uint32_t mode = kFile;
  bool is_extended = false;
};

std::string varint(std::size_t value) {
  std::string text(1, static_cast<char>(value & 127));
  while (value >>= 7) text.insert(0, 1, static_cast<char>((--value & 127) | 128));
  return text;
}

std::string index_of(std::uint32_t version, const std::vector<IndexEntry>& entries,
                     std::size_t id_bytes = kSha1Bytes, const std::string& extensions = "") {
  std::string text = "DIRC" + number(version) + number(static_cast<std::uint32_t>(entries.size()));
  std::string before;
  for (const IndexEntry& entry : entries) {
    std::string one = std::string(24, 's') + number(entry.mode) + std::string(12, 's') +
                      std::string(id_bytes, 'i');
    const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(entry.path.size(), 0xFFF));
    one += number(size | (entry.is_extended ? 0x4000 : 0), 2);
    if (entry.is_extended) one += number(0x2000, 2);
    if (version == 4) {
      std::size_t same = 0;
      while (same < before.size() && same < entry.path.size() && before[same] == entry.path[same])
        ++same;
      one += varint(before.size() - same) + entry.path.substr(same) + std::string(1, '\0');
    } else {
      one += entry.path;
      one += std::string(8 - one.size() % 8, '\0');
    }
    before = entry.path;
    text += one;
  }
  return text + extensions + std::string(id_bytes, 'h');
}

TEST(GitIndex, HasThePathsOfEachVersion) {
  const std::string deep(300, 'd');
  for (const std::uint32_t version : {2u, 3u, 4u})
    for (const std::size_t id_bytes : {kSha1Bytes, kSha256Bytes}) {
      const std::vector<IndexEntry> entries{{"a/b/one.txt"},
                                            {"a/b/" + deep + "/two", kFile, version >= 3},
                                            {"a/lib", kSubmodule},
                                            {"a/part/", kFolder},
                                            {"a.txt"},
                                            {"z"}};
      const std::string index = index_of(version, entries, id_bytes, "TREE" + number(3) + "abc");
      const auto all = paths_in_index(index, id_bytes, "");
      ASSERT_TRUE(all) << version << ": " << all.error().message;
      EXPECT_THAT(*all, ElementsAre("a.txt", "a/b/" + deep + "/two", "a/b/one.txt", "a/lib", "z"));
      const auto below = paths_in_index(index, id_bytes, "a/");
      EXPECT_THAT(*below, ElementsAre("b/" + deep + "/two", "b/one.txt", "lib"));
    }
}

TEST(GitIndex, WhatIsNoneIsRefused) {
  const std::string good = index_of(2, {{"a"}, {"b/c"}});
  for (std::size_t size = 0; size < good.size() - kSha1Bytes; ++size)
    EXPECT_FALSE(paths_in_index(std::string_view(good).substr(0, size), kSha1Bytes, "")) << size;
  EXPECT_FALSE(paths_in_index("DIRX" + good.substr(4), kSha1Bytes, ""));
  EXPECT_EQ(paths_in_index(index_of(5, {}), kSha1Bytes, "").error().code, ErrorCode::unsupported);
  const auto split = paths_in_index(
      index_of(2, {}, kSha1Bytes, "link" + number(20) + good.substr(0, 20)), kSha1Bytes, "");
  EXPECT_THAT(split.error().message, HasSubstr("split index"));
  const std::string huge = std::string("DIRC") + number(4) + number(0xFFFFFFFF);
  EXPECT_FALSE(paths_in_index(huge, kSha1Bytes, ""));
  std::string cut = index_of(4, {{"aa"}, {"ab"}});
  cut[12 + 62] = 9;  // of the first path, which has none before it
  EXPECT_FALSE(paths_in_index(cut, kSha1Bytes, ""));
}

std::vector<std::string> files_in(const Scan& scan) {
  std::vector<std::string> files;
  for (const ScannedFolder& folder : scan.folders)
    for (const ScannedFile& file : folder.files) files.push_back(folder.path + file.name);
  std::sort(files.begin(), files.end());
  return files;
}

class TrackedFilesTest : public testing::Test {
 protected:
  TrackedFilesTest() {
    dir_.file(".git/HEAD", "ref: refs/heads/main\n");
    dir_.file(".gitignore", "*.bin\ndata/\n");
    for (const char* file :
         {"code/train.py", "code/kept.bin", "code/new.bin", "code/data/classes.txt",
          "code/data/part-0", "code/data/part-1", "code/data/deep/a/b.txt", "code/data/deep/c.txt",
          "code/data/other/d.txt"})
      dir_.file(file, "x");
  }
  void track(std::uint32_t version = 2) {
    dir_.file(".git/index", index_of(version, {{"code/data/classes.txt"},
                                               {"code/data/deep/a/b.txt"},
                                               {"code/kept.bin"},
                                               {"code/train.py"}}));
  }
  Scan scan_code() {
    auto scanned = scan(dir_ / "code");
    EXPECT_TRUE(scanned) << scanned.error().message;
    return scanned ? *std::move(scanned) : Scan{};
  }
  TempDir dir_;
};

TEST_F(TrackedFilesTest, GoAlongAlthoughAPatternNamesThem) {
  EXPECT_THAT(files_in(scan_code()), ElementsAre("train.py")) << "without an index";
  for (const std::uint32_t version : {2u, 4u}) {
    track(version);
    const Scan scanned = scan_code();
    EXPECT_THAT(files_in(scanned),
                ElementsAre("data/classes.txt", "data/deep/a/b.txt", "kept.bin", "train.py"));
    ASSERT_EQ(scanned.skipped.size(), 2u);
    EXPECT_EQ(scanned.skipped[0].path, "data/*");
    EXPECT_EQ(scanned.skipped[0].line, 2);
    EXPECT_EQ(scanned.skipped[1].path, "new.bin");
    EXPECT_THAT(scanned.report.notes, IsEmpty());
  }
}

TEST_F(TrackedFilesTest, NoPatternOfAnIgnoredFolderBringsOthersBack) {
  dir_.file("code/data/.gitignore", "!part-0\n");
  track();
  EXPECT_THAT(files_in(scan_code()),
              ElementsAre("data/classes.txt", "data/deep/a/b.txt", "kept.bin", "train.py"));
}

TEST_F(TrackedFilesTest, AnAmlignoreLeavesThemOut) {
  track();
  dir_.file("code/.amlignore", "*.bin\ndata/\n");
  EXPECT_THAT(files_in(scan_code()), ElementsAre(".amlignore", "train.py"));
}

TEST_F(TrackedFilesTest, AnIndexThatCannotBeReadIsSaid) {
  dir_.file(".git/index", "DIRC what is this");
  const Scan scanned = scan_code();
  EXPECT_THAT(files_in(scanned), ElementsAre("train.py"));
  EXPECT_THAT(scanned.report.notes,
              ElementsAre(HasSubstr("files that git tracks are left out if a pattern names them")));
}

TEST_F(TrackedFilesTest, OfAWorktreeAreThoseOfItsOwnIndex) {
  track();
  dir_.file(".git/worktrees/w/HEAD", "ref: refs/heads/w\n");
  dir_.file(".git/worktrees/w/commondir", "../..\n");
  dir_.file(".git/worktrees/w/index", index_of(2, {{"only.bin"}}));
  dir_.file("w/.git", "gitdir: ../.git/worktrees/w\n");
  dir_.file("w/.gitignore", "*.bin\n");
  dir_.file("w/only.bin", "x");
  dir_.file("w/other.bin", "x");
  auto scanned = scan(dir_ / "w");
  ASSERT_TRUE(scanned);
  EXPECT_THAT(files_in(*scanned), ElementsAre(".gitignore", "only.bin"));
}

}  // namespace
}  // namespace lockstep::snapshot
