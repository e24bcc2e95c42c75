#include "common/snapshot/capture/links.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "common/snapshot/capture/scan.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

// A source folder `code` beside other folders, and a home that is none of them.
class LinksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* home = std::getenv("HOME");
    home_before_ = home == nullptr ? "" : home;
    dir_.folder("home/u");
    dir_.folder("code");
    ::setenv("HOME", (dir_ / "home/u").c_str(), 1);
  }
  void TearDown() override { ::setenv("HOME", home_before_.c_str(), 1); }

  void link_at(const std::string& target, const std::string& name) {
    const std::string folder = name.substr(0, name.rfind('/'));
    if (::access((dir_ / folder).c_str(), F_OK) != 0) dir_.folder(folder);
    dir_.link(target, name);
  }
  void link(const std::string& target, const std::string& name) { link_at(target, "code/" + name); }
  Snapshot take(Links links = Links::follow, bool is_source = true) {
    CaptureOptions options;
    options.links = links;
    options.is_source = is_source;
    options.own_files = dir_ / "lockstep";
    auto captured = capture(dir_ / "code", options);
    EXPECT_TRUE(captured) << captured.error().message;
    return captured ? *std::move(captured) : Snapshot{};
  }
  // Every entry of the tree: a file's path, a folder's with '/', a link's with " -> target".
  static std::vector<std::string> entries(const Snapshot& snapshot) {
    std::map<Digest, std::string> objects;
    for (const DirectoryObject& object : snapshot.directories)
      objects[object.digest] = object.bytes;
    std::vector<std::string> all;
    list(objects, snapshot.root, "", all);
    return all;
  }
  static std::string why(const Snapshot& snapshot) {
    return snapshot.report.kept.empty() ? "" : snapshot.report.kept.front().why;
  }

  TempDir dir_;

 private:
  static void list(const std::map<Digest, std::string>& objects, const Digest& at,
                   const std::string& path, std::vector<std::string>& all) {
    const auto folder = decode_directory(objects.at(at));
    ASSERT_TRUE(folder);
    for (const Entry& entry : folder->entries) {
      const std::string name = path + entry.name;
      if (entry.kind == EntryKind::symlink) all.push_back(name + " -> " + entry.target);
      if (entry.kind == EntryKind::file) all.push_back(name);
      if (entry.kind != EntryKind::directory) continue;
      all.push_back(name + "/");
      list(objects, entry.digest, name + "/", all);
    }
  }
  std::string home_before_;
};

using Texts = std::vector<std::string>;

TEST_F(LinksTest, WhatALinkLeadsToIsTaken) {
  dir_.file("lib/pkg/__init__.py", "x = 1\n");
  dir_.file("data.csv", "1,2,3\n", 0640);
  link("../lib/pkg", "pkg");
  link(dir_ / "data.csv", "sub/data.csv");
  const Snapshot snapshot = take();
  EXPECT_EQ(entries(snapshot), (Texts{"pkg/", "pkg/__init__.py", "sub/", "sub/data.csv"}));
  EXPECT_EQ(snapshot.symlinks, 0u);
  ASSERT_EQ(snapshot.report.followed.size(), 2u);
  EXPECT_EQ(snapshot.report.followed[0].path, "pkg/");
  EXPECT_EQ(snapshot.report.followed[0].target, dir_ / "lib/pkg");
  EXPECT_EQ(snapshot.report.followed[0].files, 1u);
  EXPECT_EQ(snapshot.report.followed[0].total.count, 6u);
  EXPECT_EQ(snapshot.report.followed[1].path, "sub/data.csv");
  EXPECT_EQ(snapshot.report.followed[1].files, 1u);
  // As if it had been there.
  TempDir plain;
  plain.file("pkg/__init__.py", "x = 1\n");
  plain.file("sub/data.csv", "1,2,3\n", 0640);
  EXPECT_EQ(snapshot.root, capture(plain.path(), {})->root);
}

TEST_F(LinksTest, TheyStayIfTheUserSaysSo) {
  dir_.file("lib/a", "x");
  link("../lib", "lib");
  const Snapshot snapshot = take(Links::keep);
  EXPECT_EQ(entries(snapshot), (Texts{"lib -> ../lib"}));
  EXPECT_TRUE(snapshot.report.followed.empty());
  EXPECT_EQ(scan(dir_ / "code")->folders[0].links.size(), 1u) << "without being asked to";
}

TEST_F(LinksTest, ThoseWithinTheFolderStay) {
  dir_.file("code/a/b/file", "x");
  link("b", "a/c");
  link("../a/b/file", "a/d");
  link("a/../a", "e");
  link("nowhere", "f");
  link("f", "g");
  const Snapshot snapshot = take();
  EXPECT_EQ(entries(snapshot), (Texts{"a/", "a/b/", "a/b/file", "a/c -> b", "a/d -> ../a/b/file",
                                      "e -> a/../a", "f -> nowhere", "g -> f"}));
  EXPECT_TRUE(snapshot.report.followed.empty());
  EXPECT_TRUE(snapshot.report.kept.empty());
}

// They would lead nowhere on a node, whose folder has another path.
TEST_F(LinksTest, OnesThatComeBackBecomeRelative) {
  dir_.file("code/a/b/file", "x");
  link(dir_ / "code/a/b", "abs");
  link("../../../code/a", "a/b/out_and_in");
  link(dir_ / "code", "a/self");
  EXPECT_EQ(entries(take()), (Texts{"a/", "a/b/", "a/b/file", "a/b/out_and_in -> ..",
                                    "a/self -> ..", "abs -> a/b"}));
}

TEST_F(LinksTest, LinksInWhatIsFollowedAreJudgedFromThere) {
  dir_.file("data/real/x", "1");
  dir_.file("more/y", "2");
  link_at("real", "data/latest");
  link_at(dir_ / "data/real/x", "data/abs");
  link_at("../more", "data/more");
  link_at("../../code/own", "data/real/back");
  link_at("..", "more/up");
  dir_.file("code/own", "3");
  link("../../data", "in/data");
  const Snapshot snapshot = take();
  EXPECT_EQ(entries(snapshot),
            (Texts{"in/", "in/data/", "in/data/abs -> real/x", "in/data/latest -> real",
                   "in/data/more/", "in/data/more/up -> ..", "in/data/more/y", "in/data/real/",
                   "in/data/real/back -> ../../../own", "in/data/real/x", "own"}))
      << "more/up leads to what holds everything, and stays";
  ASSERT_EQ(snapshot.report.followed.size(), 2u);
  EXPECT_EQ(snapshot.report.followed[0].files, 2u) << "all that came through it";
  EXPECT_TRUE(snapshot.report.followed[0].is_outermost);
  EXPECT_FALSE(snapshot.report.followed[1].is_outermost);
  ASSERT_EQ(snapshot.report.kept.size(), 1u);
  EXPECT_EQ(snapshot.report.kept[0].path, "in/data/more/up");
}

TEST_F(LinksTest, CyclesEnd) {
  dir_.file("data/x", "1");
  dir_.file("data/sub/y", "1");
  link_at("..", "data/sub/up");
  link_at(dir_ / "data", "data/sub/self");
  link_at("../code", "data/code");
  link("../data", "data");
  link("..", "up");
  link(dir_ / "code", "me");
  link("/", "root");
  link("loop", "loop");
  const Snapshot snapshot = take();
  EXPECT_EQ(
      entries(snapshot),
      (Texts{"data/", "data/code -> ..", "data/sub/", "data/sub/self -> ..", "data/sub/up -> ..",
             "data/sub/y", "data/x", "loop -> loop", "me -> .", "root -> /", "up -> .."}));
  EXPECT_EQ(snapshot.report.kept.size(), 2u) << "up, root";
  EXPECT_EQ(why(snapshot), "it contains the folder itself");
}

TEST_F(LinksTest, KeysAndHomesStayWhereTheyAre) {
  dir_.file("home/u/.ssh/id_ed25519", "secret");
  dir_.file("home/u/.config/cloud/token", "secret");
  dir_.file("home/u/.cache/hub/model.bin", "weights");
  dir_.file("home/u/data/x", "x");
  dir_.file("home/v/.ssh/id_ed25519", "secret");
  dir_.file("home/v/x", "x");
  dir_.file("lockstep/keys/user.key", "secret");
  link(dir_ / "home/u/.ssh/id_ed25519", "key");
  link(dir_ / "home/u/.config/cloud", "settings");
  link(dir_ / "home/u", "home");
  link(dir_ / "home", "homes");
  link(dir_ / "lockstep/keys", "own");
  link(dir_ / "home/u/.cache/hub/model.bin", "model.bin");
  link(dir_ / "home/u/data", "data");
  link(dir_ / "home/v", "v");
  link("/proc/self", "proc");
  link("/dev/null", "null");
  const Snapshot snapshot = take();
  EXPECT_EQ(entries(snapshot),
            (Texts{"data/", "data/x", "home -> " + dir_ / "home/u", "homes -> " + dir_ / "home",
                   "key -> " + dir_ / "home/u/.ssh/id_ed25519", "model.bin", "null -> /dev/null",
                   "own -> " + dir_ / "lockstep/keys", "proc -> /proc/self",
                   "settings -> " + dir_ / "home/u/.config/cloud", "v/", "v/x"}));
  EXPECT_EQ(snapshot.report.kept.size(), 6u);
  ASSERT_EQ(snapshot.skipped.size(), 1u);
  EXPECT_EQ(snapshot.skipped[0].path, "v/.ssh/");
}

TEST_F(LinksTest, LockstepsHomeIsNotTakenThroughAFolderAboveIt) {
  dir_.file("all/lockstep/keys/user.key", "secret");
  dir_.file("all/x", "x");
  link("../all", "all");
  CaptureOptions options;
  options.links = Links::follow;
  options.own_files = dir_ / "all/lockstep";
  const auto snapshot = capture(dir_ / "code", options);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(entries(*snapshot), (Texts{"all/", "all/x"}));
}

TEST_F(LinksTest, IgnoreFilesCountByThePathInTheFolder) {
  dir_.file("data/big.bin", "x");
  dir_.file("data/.gitignore", "*.tmp\n");
  dir_.file("data/a.tmp", "x");
  dir_.file("data/small", "x");
  dir_.file("raw/x", "x");
  dir_.file("code/.gitignore", "/data/big.bin\nraw/\n");
  link("../data", "data");
  link("../raw", "raw");
  const Snapshot snapshot = take();
  EXPECT_EQ(entries(snapshot), (Texts{".gitignore", "data/", "data/.gitignore", "data/small"}));
  ASSERT_EQ(snapshot.skipped.size(), 3u);
  EXPECT_EQ(snapshot.skipped[2].path, "raw/") << "a pattern for folders, of a link to one";
}

TEST_F(LinksTest, DanglingOnesStayAndAreSaid) {
  link("/nowhere/x", "gone");
  const Snapshot snapshot = take();
  EXPECT_EQ(entries(snapshot), (Texts{"gone -> /nowhere/x"}));
  EXPECT_EQ(why(snapshot), "it leads nowhere");
}

TEST_F(LinksTest, AFolderOfDataToo) {
  dir_.file("blobs/aa", "weights");
  dir_.file("code/snapshots/1/config.json", "{}");
  link("../../../blobs/aa", "snapshots/1/model.bin");
  EXPECT_EQ(
      entries(take(Links::follow, false)),
      (Texts{"snapshots/", "snapshots/1/", "snapshots/1/config.json", "snapshots/1/model.bin"}));
}

TEST_F(LinksTest, FilesAreReadWhereTheLinksLed) {
  dir_.file("data/a/x", "one");
  dir_.file("data/b/x", "two");
  link("../../data/a", "now/data");
  std::vector<std::string> said;
  CaptureOptions options;
  options.links = Links::follow;
  options.on_scanned = [&](const CaptureReport& report) {
    for (const FollowedLink& one : report.followed) said.push_back(one.path);
    ASSERT_EQ(::unlink((dir_ / "code/now/data").c_str()), 0);
    link("../../data/b", "now/data");  // somebody turns it elsewhere meanwhile
  };
  const auto snapshot = capture(dir_ / "code", options);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(said, (Texts{"now/data/"}));
  ASSERT_EQ(snapshot->files.size(), 1u);
  EXPECT_EQ(snapshot->files[0].digest, sha256("one"));
}

// Each folder has two links to the next one: 2^30 files.
TEST_F(LinksTest, LinksThatDoubleAreRefused) {
  for (int i = 0; i < 30; ++i) {
    const std::string next = "../f" + std::to_string(i + 1);
    link_at(next, "f" + std::to_string(i) + "/a");
    link_at(next, "f" + std::to_string(i) + "/b");
  }
  dir_.file("f30/x", "x");
  link("../f0", "f");
  CaptureOptions options;
  options.links = Links::follow;
  const auto snapshot = capture(dir_ / "code", options);
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().code, ErrorCode::resource_exhausted);
  EXPECT_NE(snapshot.error().message.find("--links keep"), std::string::npos)
      << snapshot.error().message;
}

}  // namespace
}  // namespace lockstep::snapshot
