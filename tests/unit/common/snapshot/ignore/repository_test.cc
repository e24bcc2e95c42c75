#include "common/snapshot/ignore/repository.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "common/snapshot/capture/scan.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

void make_repository(const TempDir& dir, const std::string& below = "") {
  dir.file(below + ".git/HEAD", "ref: refs/heads/main\n");
}

Scan must_scan(const std::string& folder) {
  auto scanned = scan(folder);
  EXPECT_TRUE(scanned) << scanned.error().message;
  return scanned ? *std::move(scanned) : Scan{};
}

std::vector<std::string> files_of(const Scan& scan) {
  std::vector<std::string> files;
  for (const ScannedFolder& folder : scan.folders)
    for (const ScannedFile& file : folder.files) files.push_back(folder.path + file.name);
  std::sort(files.begin(), files.end());
  return files;
}

// "path <- file:line"
std::vector<std::string> skipped_of(const Scan& scan) {
  std::vector<std::string> all;
  for (const SkippedPath& one : scan.skipped)
    all.push_back(one.path + " <- " + one.source + ":" + std::to_string(one.line));
  return all;
}

using Texts = std::vector<std::string>;

TEST(Repository, IgnoreFilesCountUpToItsRoot) {
  TempDir dir;
  make_repository(dir);
  dir.file(".gitignore", "# data\n*.bin\n/a/code/top.txt\ndata/\n/code/\nkeep*\n");
  dir.file("a/.gitignore", "code/*.log\n!keep.me\n");
  dir.file(".git/info/exclude", "mine\nkeep.me\n");
  dir.file("a/code/train.py", "x");
  dir.file("a/code/model.bin", "x");
  dir.file("a/code/top.txt", "x");
  dir.file("a/code/sub/top.txt", "x");
  dir.file("a/code/data/part", "x");
  dir.file("a/code/sub/data/part", "x");
  dir.file("a/code/x.log", "x");
  dir.file("a/code/sub/x.log", "x");
  dir.file("a/code/mine", "x");
  dir.file("a/code/keep.me", "x");
  dir.file("a/code/keep.not", "x");
  const Scan scanned = must_scan(dir / "a/code");
  EXPECT_EQ(files_of(scanned), (Texts{"keep.me", "sub/top.txt", "sub/x.log", "train.py"}));
  EXPECT_EQ(skipped_of(scanned),
            (Texts{"data/ <- ../../.gitignore:4", "keep.not <- ../../.gitignore:6",
                   "mine <- ../../.git/info/exclude:1", "model.bin <- ../../.gitignore:2",
                   "sub/data/ <- ../../.gitignore:4", "top.txt <- ../../.gitignore:3",
                   "x.log <- ../.gitignore:1"}));
  EXPECT_TRUE(scanned.report.notes.empty());
}

TEST(Repository, ItsOwnExcludesCountInTheRootToo) {
  TempDir dir;
  make_repository(dir);
  dir.file(".git/info/exclude", "*.bin\n");
  dir.file("a.bin", "x");
  dir.file("a.py", "x");
  const Scan scanned = must_scan(dir.path());
  EXPECT_EQ(files_of(scanned), (Texts{"a.py"}));
  EXPECT_EQ(scanned.skipped[1].source, ".git/info/exclude");
}

TEST(Repository, OnlyTheInnermostCounts) {
  TempDir dir;
  make_repository(dir);
  dir.file(".gitignore", "*.bin\n");
  make_repository(dir, "inner/");
  dir.file("inner/code/a.bin", "x");
  EXPECT_EQ(files_of(must_scan(dir / "inner/code")), (Texts{"a.bin"}));
}

TEST(Repository, AFolderThatIsNoneEndsNothing) {
  TempDir dir;
  make_repository(dir);
  dir.file(".gitignore", "*.bin\n");
  dir.folder("code/.git");  // empty: git does not take it for a repository either
  dir.file("code/a.bin", "x");
  dir.file("code/a.py", "x");
  EXPECT_EQ(files_of(must_scan(dir / "code")), (Texts{"a.py"}));
}

TEST(Repository, AWorktreeHasTheExcludesOfItsRepository) {
  TempDir dir;
  make_repository(dir, "main/");
  dir.file("main/.git/info/exclude", "*.bin\n");
  dir.file("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
  dir.file("main/.git/worktrees/w/commondir", "../..\n");
  dir.file("w/.git", "gitdir: ../main/.git/worktrees/w\n");
  dir.file("w/.gitignore", "*.tmp\n");
  dir.file("w/code/a.bin", "x");
  dir.file("w/code/a.tmp", "x");
  dir.file("w/code/a.py", "x");
  EXPECT_EQ(files_of(must_scan(dir / "w/code")), (Texts{"a.py"}));
}

TEST(Repository, WithoutOneFilesAboveDoNotCount) {
  TempDir dir;
  dir.file(".gitignore", "*\n");
  dir.file("code/a.py", "x");
  EXPECT_EQ(files_of(must_scan(dir / "code")), (Texts{"a.py"}));
}

TEST(Repository, AnAmlignoreReplacesThemToo) {
  TempDir dir;
  make_repository(dir);
  dir.file(".gitignore", "*.bin\n");
  dir.file("code/.amlignore", "*.tmp\n");
  dir.file("code/a.bin", "x");
  dir.file("code/a.tmp", "x");
  EXPECT_EQ(files_of(must_scan(dir / "code")), (Texts{".amlignore", "a.bin"}));
}

// `build/` of a repository, and `*` of one that keeps settings in a home directory.
TEST(Repository, AFolderThatItIgnoresCanBeNamed) {
  for (const char* pattern : {"build/", "/build", "*", "/build/\n!/build/out", "bui*/out"}) {
    TempDir dir;
    make_repository(dir);
    dir.file(".gitignore", std::string(pattern) + "\n");
    dir.file("build/out/.gitignore", "*.o\n");
    dir.file("build/out/a.o", "x");
    dir.file("build/out/run", "x");
    const Scan scanned = must_scan(dir / "build/out");
    EXPECT_EQ(files_of(scanned), (Texts{".gitignore", "run"})) << pattern;
    ASSERT_EQ(scanned.report.notes.size(), 1u) << pattern;
    EXPECT_NE(scanned.report.notes[0].find("../../.gitignore:1: "), std::string::npos)
        << scanned.report.notes[0];
  }
}

TEST(Repository, SaysThatNothingIsLeft) {
  TempDir dir;
  make_repository(dir);
  dir.file(".gitignore", "/build/*\n");
  dir.file("build/run", "x");
  const auto captured = capture(dir / "build", {});
  ASSERT_TRUE(captured);
  EXPECT_TRUE(captured->files.empty());
  ASSERT_EQ(captured->report.notes.size(), 1u);
  EXPECT_EQ(captured->report.notes[0],
            "nothing is left to take: ../.gitignore:1: /build/* leaves out run; put an .amlignore "
            "into the folder to take other files");
}

TEST(Repository, OneOfAnotherUserCountsForNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  TempDir dir;
  make_repository(dir);
  dir.file(".gitignore", "*.py\n");
  dir.file("code/a.py", "x");
  const uid_t somebody = 12345, me = 12346;
  ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
  ASSERT_EQ(::lchown((dir / ".git").c_str(), somebody, somebody), 0);
  EXPECT_EQ(files_of(must_scan(dir / "code")), (Texts{"a.py"}));
  ASSERT_EQ(::lchown((dir / "code").c_str(), somebody, somebody), 0);
  EXPECT_EQ(files_of(must_scan(dir / "code")), (Texts{})) << "whose folder it is as well";
  ASSERT_EQ(::lchown((dir / "code").c_str(), me, me), 0);
  const Scan scanned = must_scan(dir / "code");
  EXPECT_EQ(files_of(scanned), (Texts{"a.py"}));
  ASSERT_EQ(scanned.report.notes.size(), 1u);
  EXPECT_NE(scanned.report.notes[0].find("belongs to another user"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::snapshot
