#include "common/snapshot/checkout/materialize.h"

#include <atomic>
#include <thread>

#include "common/io/file_system.h"
#include "common/snapshot/content/disk_usage.h"
#include "common/snapshot/manifest.h"
#include "tests/fakes/disk/deep_tree.h"
#include "tests/fakes/disk/faults.h"
#include "tests/fakes/disk/swaps.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

struct Fixture {
  TempDir dir;
  std::unique_ptr<BlobStore> store = *BlobStore::open(dir / "blobs");

  Digest put(const Directory& directory) {
    const std::string bytes = encode(directory);
    EXPECT_TRUE(store->put(sha256(bytes), bytes));
    return sha256(bytes);
  }
  Entry file(std::string name, const std::string& content, std::uint32_t mode = 0644) {
    EXPECT_TRUE(store->put(sha256(content), content));
    return {std::move(name), EntryKind::file, mode, content.size(), sha256(content), {}};
  }
  Entry folder(std::string name, const Directory& directory, std::uint32_t mode = 0755) {
    const Digest digest = put(directory);
    return {std::move(name), EntryKind::directory, mode, encode(directory).size(), digest, {}};
  }
};

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST(Materialize, RoundTripGivesTheSameDigest) {
  Fixture f;
  TempDir source;
  source.file("train.py", "print(1)");
  source.file("a/b/c/deep.txt", std::string(2 << 20, 'q'));
  source.file("run.sh", "#!/bin/sh\n", 0755);
  source.file("read_only", "r", 0400);
  source.folder("empty/inner");
  source.folder("sticky", 01777);
  source.link("../../etc/passwd", "a/link");
  source.link("a", "to_folder");
  for (int i = 0; i < 1000; ++i) source.file("many/" + std::to_string(i), std::to_string(i % 10));
  const auto captured = capture(source.path(), {});
  ASSERT_TRUE(captured);
  store_all(*captured, *f.store);
  const Status written = materialize(*f.store, captured->root, f.dir / "out");
  ASSERT_TRUE(written) << written.error().message;
  const auto again = capture(f.dir / "out", {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->root, captured->root);
  EXPECT_EQ(mode_of(f.dir / "out"), 0755u);
  EXPECT_EQ(mode_of(f.dir / "out/sticky"), 01777u);
  EXPECT_EQ(mode_of(f.dir / "out/read_only"), 0400u);
  EXPECT_FALSE(materialize(*f.store, captured->root, f.dir / "out"));
}

std::uint64_t on_disk(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

// In a cache a larger file has another name, out of it it is copied.
TEST(Materialize, HolesStayHoles) {
  TempDir dir;
  const auto cache = *BlobStore::open(dir / "cache", BlobStore::Mode::cache);
  TempDir source;
  source.file("holes", "begin");
  ASSERT_EQ(::truncate((source / "holes").c_str(), 64 << 20), 0);
  const auto captured = capture(source.path(), {});
  ASSERT_TRUE(captured);
  store_all(*captured, *cache);
  EXPECT_LT(*disk_usage(dir / "cache"), 1u << 20);
  for (const bool for_all : {false, true}) {
    MaterializeOptions options;
    options.for_all = for_all;
    const std::string out = dir / (for_all ? "linked" : "copied");
    ASSERT_TRUE(materialize(*cache, captured->root, out, options));
    EXPECT_LT(on_disk(out + "/holes"), 1u << 20);
    std::string expected = "begin";
    expected.resize(64 << 20);
    EXPECT_TRUE(io::read_file(out + "/holes").value_or("") == expected);
  }
}

TEST(Materialize, FoldersThatShutTheirOwnerOut) {
  Fixture f;
  Directory inner;
  inner.entries = {f.file("x", "x")};
  Directory middle;
  middle.entries = {f.folder("inner", inner, 0555)};
  Directory root;
  root.entries = {f.folder("closed", middle, 0500), f.folder("none", inner, 0)};
  const Digest digest = f.put(root);
  ASSERT_TRUE(materialize(*f.store, digest, f.dir / "out"));
  EXPECT_EQ(mode_of(f.dir / "out/closed"), 0500u);
  EXPECT_EQ(mode_of(f.dir / "out/closed/inner"), 0555u);
  EXPECT_EQ(mode_of(f.dir / "out/none"), 0u);
  EXPECT_TRUE(io::remove_tree(f.dir / "out"));
  EXPECT_FALSE(io::exists(f.dir / "out"));
}

TEST(Materialize, SetuidBitsAreNeverSet) {
  Fixture f;
  Directory root;
  root.entries = {f.file("suid", "x", 06755)};
  root.entries.push_back(f.folder("tdir", {}, 07777));
  ASSERT_TRUE(materialize(*f.store, f.put(root), f.dir / "out"));
  EXPECT_EQ(mode_of(f.dir / "out/suid"), 0755u);
  EXPECT_EQ(mode_of(f.dir / "out/tdir"), 01777u);
}

// A tree that says "link -> /outside" and then wants to write below the link.
TEST(Materialize, PermissionsThatTheUmaskTakesAreNotGiven) {
  Fixture f;
  Directory inner, top;
  inner.entries = {f.file("open", "x", 0666), f.file("run", "x", 0777), f.file("shut", "x", 0400)};
  top.entries = {f.folder("inner", inner, 0777)};
  MaterializeOptions options;
  options.umask = 027;
  ASSERT_TRUE(materialize(*f.store, f.put(top), f.dir / "out", options));
  EXPECT_EQ(mode_of(f.dir / "out/inner"), 0750U);
  EXPECT_EQ(mode_of(f.dir / "out/inner/open"), 0640U);
  EXPECT_EQ(mode_of(f.dir / "out/inner/run"), 0750U);
  EXPECT_EQ(mode_of(f.dir / "out/inner/shut"), 0400U);
}

TEST(Materialize, NothingIsWrittenThroughASymlink) {
  Fixture f;
  f.dir.folder("outside");
  const std::string bait = f.dir / "outside";
  // The format has no two entries of one name, so the closest attempts: a target that exists
  // already as a symlink, and a symlink beside a folder.
  f.dir.link("outside", "target_link");
  Directory root;
  root.entries = {f.file("file", "pwned")};
  const Digest digest = f.put(root);
  EXPECT_FALSE(materialize(*f.store, digest, f.dir / "target_link"));
  EXPECT_TRUE(io::list_directory(bait)->empty());

  Directory links;
  links.entries = {{"a", EntryKind::symlink, 0, 0, {}, bait},
                   {"b", EntryKind::symlink, 0, 0, {}, "a/escaped"},
                   f.folder("c", root)};
  ASSERT_TRUE(materialize(*f.store, f.put(links), f.dir / "out"));
  EXPECT_TRUE(io::list_directory(bait)->empty());
  EXPECT_EQ(f.dir.read("out/c/file"), "pwned");
}

TEST(Materialize, HostileObjectsAreRefusedAndNothingEscapes) {
  Fixture f;
  const std::vector<std::string> names = {"../escaped", "..", "/tmp/snap-escaped",
                                          "a/../../escaped", "."};
  for (const std::string& name : names) {
    std::string bytes("LSD\1\1\0\x24", 7);
    bytes += static_cast<char>(name.size()) + name + '\1' + std::string(sha256("x").view());
    ASSERT_TRUE(f.store->put(sha256("x"), "x"));
    ASSERT_TRUE(f.store->put(sha256(bytes), bytes));
    const Status written = materialize(*f.store, sha256(bytes), f.dir / "out");
    ASSERT_FALSE(written) << name;
    EXPECT_EQ(written.error().code, ErrorCode::corrupt);
    ASSERT_TRUE(io::remove_tree(f.dir / "out"));
  }
  EXPECT_FALSE(io::exists(f.dir / "escaped"));
  EXPECT_FALSE(io::exists("/tmp/snap-escaped"));
}

TEST(Materialize, SizesThatLieAndBlobsThatLackAreNamed) {
  Fixture f;
  Directory root;
  root.entries = {f.file("liar", "four")};
  root.entries[0].size = 5;
  Status written = materialize(*f.store, f.put(root), f.dir / "out");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("liar"), std::string::npos);
  ASSERT_TRUE(io::remove_tree(f.dir / "out"));
  root.entries[0] = {"absent", EntryKind::file, 0644, 1, sha256("nowhere"), {}};
  written = materialize(*f.store, f.put(root), f.dir / "out");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::not_found);
  EXPECT_NE(written.error().message.find("absent"), std::string::npos);
}

// 2^40 files from forty small objects must end with a named bound, not fill the disk.
TEST(Materialize, ATreeTooDeepIsRefused) {
  Fixture f;
  Directory level;
  level.entries = {f.file("x", "x")};
  for (int i = 0; i < kMaxTreeDepth + 2; ++i) {
    Directory outer;
    outer.entries = {f.folder("d", level)};
    level = outer;
  }
  const Status written = materialize(*f.store, f.put(level), f.dir / "out");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("folders deep"), std::string::npos);
}

// A user who may change names in the tree at any moment: nothing beyond it is given away or opened.
TEST(Materialize, WhateverIsSwappedNothingBeyondIsChanged) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  Fixture f;
  const test::Canary canary(f.dir / "canary");
  Directory late, inner, top;
  late.entries = {f.file("file", "x")};
  inner.entries = {f.folder("inner", late, 0555)};
  top.entries = {f.folder("a", inner), f.file("file", "y")};
  const Digest root = f.put(top);
  MaterializeOptions options;
  options.owner = {65534, 65534};
  options.threads = 1;
  const std::string out = f.dir / "out";
  for (const std::string name : {"/a", "/a/inner", "/file"}) {
    const int swaps = test::each_swap(
        [&] {
          ASSERT_TRUE(io::remove_tree(out));
          ASSERT_TRUE(io::remove_tree(f.dir / "aside"));
        },
        [&] {
          ::rename((out + name).c_str(), (f.dir / "aside").c_str());
          const bool is_file = name == "/file";
          ::symlink((canary.path() + (is_file ? "/file" : "")).c_str(), (out + name).c_str());
        },
        [&] { static_cast<void>(materialize(*f.store, root, out, options)); },
        [&] { canary.is_untouched(); });
    EXPECT_GT(swaps, 15) << name;
  }
}

// Its owner to be gets in when all is written, and not before.
TEST(Materialize, TheTreeIsClosedUntilItIsWhole) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  Fixture f;
  Directory late, top;
  late.entries = {f.file("file", "x")};
  top.entries = {f.folder("late", late, 0555), f.folder("other", late)};
  const Digest root = f.put(top);
  MaterializeOptions options;
  options.owner = {65534, 65534};
  const std::string out = f.dir / "out";
  bool was_open = false;
  const int calls = test::each_swap(
      [&] { ASSERT_TRUE(io::remove_tree(out)); },
      [&] {
        struct stat top_folder {
        }, last{};
        if (::stat(out.c_str(), &top_folder) != 0) return;
        const bool is_whole = ::stat((out + "/late").c_str(), &last) == 0 &&
                              (last.st_mode & 07777) == 0555 && last.st_uid == 65534;
        was_open = was_open || (top_folder.st_uid != 0 && !is_whole) ||
                   (top_folder.st_uid == 0 && (top_folder.st_mode & 07777) != 0700);
      },
      [&] { ASSERT_TRUE(materialize(*f.store, root, out, options)); }, [] {});
  EXPECT_FALSE(was_open);
  EXPECT_GT(calls, 15);
  EXPECT_EQ(mode_of(out), 0755u);
}

TEST(Materialize, AFolderOfAnotherUserIsNotWrittenTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  Fixture f;
  ASSERT_EQ(::mkdir((f.dir / "out").c_str(), 0755), 0);
  ASSERT_EQ(::chown((f.dir / "out").c_str(), 65534, 65534), 0);
  const Status written = materialize(*f.store, f.put({}), f.dir / "out");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("belongs to another account (uid 65534)"),
            std::string::npos);
}

TEST(DiskUsage, OfATreeOfAnyDepth) {
  const TempDir dir(test::quick_directory());
  test::make_deep_tree(dir / "tree", 20'000);
  dir.file("tree/d/file", std::string(1 << 20, 'x'));
  const auto usage = disk_usage(dir / "tree");
  ASSERT_TRUE(usage) << usage.error().message;
  EXPECT_GE(*usage, 1u << 20);
  for (int i = 0; i < 5; ++i) test::make_deep_tree(dir / ("wide/" + std::to_string(i)), 100);
  dir.file("wide/4/d/file", std::string(1 << 20, 'x'));
  for (const char* name : {"a", "b", "c"})
    dir.file(std::string("wide/") + name, std::string(1 << 20, 'x'));
  const auto wide = disk_usage(dir / "wide");
  ASSERT_TRUE(wide) << wide.error().message;
  EXPECT_GE(*wide, 4u << 20) << "all after a deep folder is counted";
  EXPECT_LT(*wide, 7u << 20) << "nothing is counted twice";
}

TEST(TreeCache, BuildsOnceForManyCallers) {
  Fixture f;
  Directory root;
  for (int i = 0; i < 300; ++i) root.entries.push_back(f.file(std::to_string(1000 + i), "x"));
  const Digest digest = f.put(root);
  const auto cache = *TreeCache::open(f.dir / "trees");
  EXPECT_EQ(cache->find(digest, {current_owner()}), "");
  std::vector<std::thread> callers;
  std::atomic<int> good{0};
  for (int i = 0; i < 6; ++i) {
    callers.emplace_back([&] {
      const auto path = cache->get(*f.store, digest);
      if (path && *path == f.dir / "trees/" + digest.hex()) ++good;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(good, 6);
  EXPECT_EQ(cache->find(digest, {current_owner()}), f.dir / "trees/" + digest.hex());
  EXPECT_EQ(io::list_directory(f.dir / "trees")->size(), 2u);  // the tree and the boot file
}

TEST(TreeCache, AFailedBuildLeavesNothingAndCanBeRepeated) {
  Fixture f;
  Directory root;
  root.entries = {{"late", EntryKind::file, 0644, 4, sha256("late"), {}}};
  const Digest digest = f.put(root);
  const auto cache = *TreeCache::open(f.dir / "trees");
  EXPECT_FALSE(cache->get(*f.store, digest));
  EXPECT_EQ(io::list_directory(f.dir / "trees")->size(), 1u);
  ASSERT_TRUE(f.store->put(sha256("late"), "late"));
  EXPECT_TRUE(cache->get(*f.store, digest));
}

TEST(TreeCache, LeftoversGoAndAnotherBootStartsOver) {
  Fixture f;
  const Digest digest = f.put({});
  std::string path;
  {
    const auto cache = *TreeCache::open(f.dir / "trees");
    path = *cache->get(*f.store, digest);
    f.dir.file("trees/building-1-1/half", "x");
  }
  {
    const auto cache = *TreeCache::open(f.dir / "trees");
    EXPECT_FALSE(io::exists(f.dir / "trees/building-1-1"));
    EXPECT_EQ(cache->find(digest, {current_owner()}), path);
  }
  f.dir.file("trees/boot", "another boot");
  const auto cache = *TreeCache::open(f.dir / "trees");
  EXPECT_EQ(cache->find(digest, {current_owner()}), "");
}

TEST(TreeCache, TreesOfAnotherUserAreTheirs) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  Fixture f;
  Directory inner, root;
  inner.entries = {f.file("y", "y")};
  root.entries = {f.folder("d", inner), {"l", EntryKind::symlink, 0, 0, {}, "d"}, f.file("x", "x")};
  const Digest digest = f.put(root);
  const auto cache = *TreeCache::open(f.dir / "trees");
  MaterializeOptions options;
  options.owner = {65534, 65534};
  const auto path = cache->get(*f.store, digest, options);
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(*path, f.dir / "trees/" + digest.hex() + ".65534");
  for (const char* name : {"", "/d", "/d/y", "/l", "/x"}) {
    struct stat info {};
    ASSERT_EQ(::lstat((*path + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, 65534u) << name;
    EXPECT_EQ(info.st_gid, 65534u) << name;
  }
  EXPECT_EQ(mode_of(f.dir / "trees"), 0700u);
}

}  // namespace
}  // namespace lockstep::snapshot
