#include "common/snapshot/ignore/ignore.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <random>
#include <set>

#include "common/snapshot/capture/scan.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

using Paths = std::set<std::string>;

Paths paths_of(const Scan& scan) {
  Paths paths;
  for (const ScannedFolder& folder : scan.folders) {
    for (const auto& file : folder.files) paths.insert(folder.path + file.name);
    for (const auto& link : folder.links) paths.insert(folder.path + link.name);
  }
  return paths;
}

std::string output_of(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string all;
  std::array<char, 65536> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) {
    all.append(buffer.data(), got);
  }
  return all;
}

// One repository for all trees: only its rules are wanted.
std::string git_in(const TempDir& dir) {
  static const TempDir repository;
  static const std::string git = "GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null git";
  static const bool made = (output_of(git + " init -q --bare " + repository.path()), true);
  EXPECT_TRUE(made);
  return "cd " + dir.path() + " && " + git + " --git-dir=" + repository.path() + " --work-tree=. ";
}

// What git would add: the truth for every rule.
Paths paths_of_git(const TempDir& dir) {
  const std::string all = output_of(git_in(dir) + "ls-files -o --exclude-standard -z");
  Paths paths;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\0', at);
    paths.insert(all.substr(at, end - at));
    at = end + 1;
  }
  return paths;
}

void expect_same_as_git(const TempDir& dir, const std::string& note) {
  const auto scanned = scan(dir.path());
  ASSERT_TRUE(scanned) << scanned.error().message;
  EXPECT_EQ(paths_of(*scanned), paths_of_git(dir)) << note;
}

TEST(Ignore, TheDocumentedRules) {
  TempDir dir;
  for (const char* path :
       {"a.o", "sub/a.o", "sub/keep.o", "build/x", "sub/build/x", "doc/a.txt", "doc/sub/b.txt",
        "x/y/z", "a/b/c/d", "hello world", "trail ", "#hash", "!bang", "tmp/file", "foo/bar/baz",
        "abc/deep/er", "nested/in.log", "nested/out.log", "one.log"}) {
    dir.file(path, "x");
  }
  dir.file(".gitignore",
           "\xEF\xBB\xBF# comment\n*.o\r\n!keep.o\n/build\ndoc/*.txt\n**/z\na/**/d\nhello\\ world\n"
           "trail\\ \n\\#hash\n\\!bang\ntmp/\nfoo/**\nabc/*\n!abc/deep/\n*.log\n   \n");
  dir.file("nested/.gitignore", "!in.log\n");
  dir.link("tmp", "link");
  expect_same_as_git(dir, "");
}

TEST(Ignore, OddPatterns) {
  TempDir dir;
  for (const char* path :
       {"a]b", "a-b", "a^b", "a!b", "a\\b", "a*b", "a[b", "a?b", "foobar", "foo/bar", "foo/x/bar",
        "ab", "abb", "a\tb", "a1b", "aZb", "d/ab", "d/e/ab", "x/ab "}) {
    dir.file(path, "x");
  }
  const std::string patterns[] = {"a[]]b",
                                  "a[!a]b",
                                  "a[^-]b",
                                  "a[a-z-]b",
                                  "a[[:digit:][:upper:]]b",
                                  "a[[:nope:]]b",
                                  "a[b",
                                  "a[[:]b",
                                  "a\\",
                                  "a\\*b",
                                  "a\\\\b",
                                  "foo**bar",
                                  "foo**/bar",
                                  "foo/**bar",
                                  "**/bar",
                                  "**",
                                  "/**",
                                  "**/",
                                  "*/ab",
                                  "d/**",
                                  "d/**/ab",
                                  "/",
                                  "//",
                                  "!",
                                  "a?b",
                                  "a[[-^]b",
                                  "a[\\]]b",
                                  "ab\t",
                                  "/*/ab",
                                  "x/ab\\ ",
                                  "foo/**/**/bar",
                                  "a[a-]b",
                                  "***ab",
                                  "d***/ab",
                                  "[",
                                  "a**\\/b",
                                  "*[",
                                  "a[!]b",
                                  "d/",
                                  "d/e/",
                                  "/a*b",
                                  "*b",
                                  "*\\b",
                                  "a[]-^]b"};
  for (const std::string& pattern : patterns) {
    dir.file(".gitignore", pattern + "\n");
    expect_same_as_git(dir, "pattern: " + pattern);
    dir.file(".gitignore", "*\n!*/\n!" + pattern + "\n");
    expect_same_as_git(dir, "negated: " + pattern);
  }
}

class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {}

  void fill(const TempDir& dir, const std::string& base, int depth) {
    const int count = 2 + pick(4);
    for (int i = 0; i < count; ++i) {
      const std::string path = base + name();
      struct stat info {};
      if (::lstat((dir / path).c_str(), &info) == 0) continue;
      if (depth > 0 && pick(5) < 2) {
        dir.folder(path);
        fill(dir, path + "/", depth - 1);
      } else if (pick(12) == 0) {
        ::symlink("a", (dir / path).c_str());
      } else {
        dir.file(path, "x");
      }
    }
    if (depth == 3 || pick(4) == 0) dir.file(base + ".gitignore", patterns());
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string name() {
    std::string text;
    for (int i = 1 + pick(2); i > 0; --i) text += "abc.*[-\\!"[pick(pick(3) == 0 ? 9 : 3)];
    return text == "." || text == ".." ? "a" : text;
  }
  std::string patterns() {
    static const char* kParts[] = {
        "a", "b",   "c",   "*",    "**",    "/",  "/",  "?", "[ab]", "[!a]", "\\",
        ".", "**/", "/**", "/**/", "[a-c]", "a*", "*b", "-", "[]",   "!",    "[^[:alpha:]]"};
    std::string all;
    for (int line = 1 + pick(5); line > 0; --line) {
      if (pick(4) == 0) all += '!';
      for (int part = 1 + pick(4); part > 0; --part) all += kParts[pick(22)];
      if (pick(5) == 0) all += '/';
      if (pick(8) == 0) all += "  ";
      all += pick(10) == 0 ? "\r\n" : "\n";
    }
    return all;
  }
  std::mt19937 random_;
};

TEST(Ignore, AgreesWithGitOnGeneratedTrees) {
  std::size_t skipped = 0, kept = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    TempDir dir;
    RandomTree(seed).fill(dir, "", 3);
    const auto scanned = scan(dir.path());
    ASSERT_TRUE(scanned) << scanned.error().message;
    ASSERT_EQ(paths_of(*scanned), paths_of_git(dir))
        << "seed " << seed << "\n"
        << output_of("cd " + dir.path() + " && tail -n +1 $(find . -name .gitignore)");
    skipped += scanned->skipped.size();
    kept += paths_of(*scanned).size();
  }
  EXPECT_GT(skipped, 150u);
  EXPECT_GT(kept, 150u);
}

TEST(Ignore, ManyStarsAreNotExponential) {
  std::string glob;
  for (int i = 0; i < 60; ++i) glob += "a*";
  EXPECT_FALSE(glob_matches(glob + "b", std::string(200, 'a'), true));
  EXPECT_TRUE(glob_matches(glob, std::string(200, 'a'), true));
  std::string deep = "**/";
  for (int i = 0; i < 40; ++i) deep += "*a*/**/";
  std::string path;
  for (int i = 0; i < 100; ++i) path += "aa/";
  EXPECT_FALSE(glob_matches(deep + "b", path + "c", true));
}

TEST(Ignore, AmlignoreReplacesGitignore) {
  TempDir dir;
  dir.file("a.log", "x");
  dir.file("b.tmp", "x");
  dir.file("sub/a.log", "x");
  dir.file("sub/.gitignore", "*\n");
  dir.file(".gitignore", "*.log\n");
  dir.file(".amlignore", "*.tmp\n");
  const auto scanned = scan(dir.path());
  ASSERT_TRUE(scanned);
  EXPECT_EQ(paths_of(*scanned),
            (Paths{".amlignore", ".gitignore", "a.log", "sub/.gitignore", "sub/a.log"}));
  ASSERT_EQ(scanned->skipped.size(), 1u);
  EXPECT_EQ(scanned->skipped[0].path, "b.tmp");
  EXPECT_EQ(scanned->skipped[0].source, ".amlignore");
}

TEST(Ignore, ListsWhatWasSkippedAndByWhichPattern) {
  TempDir dir;
  dir.file("sub/out/x", "x");
  dir.file("sub/y.o", "x");
  dir.file(".git/config", "x");
  dir.file(".gitignore", "# objects\n\n*.o\n");
  dir.file("sub/.gitignore", "/out/\n");
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  const auto scanned = scan(dir.path());
  ASSERT_TRUE(scanned);
  ASSERT_EQ(scanned->skipped.size(), 4u);
  const auto& skipped = scanned->skipped;
  EXPECT_EQ(skipped[0].path, ".git/");
  EXPECT_EQ(skipped[1].path, "pipe");
  EXPECT_EQ(skipped[1].pattern, "a fifo");
  EXPECT_EQ(skipped[2].path, "sub/out/");
  EXPECT_EQ(skipped[2].source, "sub/.gitignore");
  EXPECT_EQ(skipped[2].line, 1);
  EXPECT_EQ(skipped[2].pattern, "/out/");
  EXPECT_EQ(skipped[3].path, "sub/y.o");
  EXPECT_EQ(skipped[3].source, ".gitignore");
  EXPECT_EQ(skipped[3].line, 3);
}

}  // namespace
}  // namespace lockstep::snapshot
