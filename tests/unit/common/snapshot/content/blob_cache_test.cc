#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "common/io/file_system.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/manifest.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/common/snapshot/trees.h"
#include "tests/unit/support/noise.h"

namespace lockstep::snapshot {
namespace {

using test::noise;

struct stat info_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info;
}

struct Fixture {
  TempDir dir;
  std::unique_ptr<BlobStore> store = *BlobStore::open(dir / "blobs", BlobStore::Mode::cache);
  const std::string large = noise(3 << 20) + std::string(5 << 20, 'z') + "end";
  const Digest digest = sha256(large);

  void reopen() {
    store.reset();
    store = *BlobStore::open(dir / "blobs", BlobStore::Mode::cache);
  }
  void reboot() {
    store.reset();
    std::ofstream(dir / "blobs/boot") << "another";
    store = *BlobStore::open(dir / "blobs", BlobStore::Mode::cache);
  }
  std::string path(const char* end) const {
    return dir / ("blobs/" + digest.hex().substr(0, 2) + "/" + digest.hex().substr(2) + end);
  }
  Digest tree(std::uint32_t mode, const std::string& name = "data") {
    Directory root;
    root.entries = {{name, EntryKind::file, mode, large.size(), digest, {}}};
    const std::string bytes = encode(root);
    EXPECT_TRUE(store->put(sha256(bytes), bytes));
    return sha256(bytes);
  }
  Status write(const Digest& root, const std::string& name, bool for_all = true) {
    MaterializeOptions options;
    options.for_all = for_all;
    return materialize(*store, root, dir / name, options);
  }
};

std::string content(const std::string& path) { return *io::read_file(path, mebibytes(64)); }

void damage(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(1 << 20);
  file << '!' << '?';
}

// The pieces come in any order, and each comes twice. A piece that goes to a peer is compressed
// where that helps.
TEST(BlobCache, KeepsALargeBlobAsItIs) {
  Fixture f;
  std::vector<BlobPiece> pieces;
  for (std::uint64_t at = 0; at < f.large.size(); at += kMaxPieceBytes)
    pieces.push_back(make_piece(f.digest, f.large.size(), at,
                                std::string_view(f.large).substr(at, kMaxPieceBytes)));
  std::swap(pieces[1], pieces[4]);
  pieces.push_back(pieces[0]);
  std::swap(pieces.back(), pieces[7]);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto put = f.store->put_piece(pieces[i]);
    ASSERT_TRUE(put) << put.error().message;
    EXPECT_EQ(*put, i + 1 == pieces.size());
  }
  EXPECT_TRUE(f.store->has(f.digest));
  EXPECT_EQ(f.store->size(f.digest), f.large.size());
  EXPECT_EQ(*f.store->get(f.digest), f.large);
  EXPECT_EQ(content(f.path(".fresh")), f.large);
  EXPECT_EQ(info_of(f.path(".fresh")).st_mode & 07777, 0600u);
  const auto sent = f.store->piece(f.digest, 4 * kMaxPieceBytes);
  ASSERT_TRUE(sent);
  EXPECT_TRUE(sent->compressed);
  EXPECT_EQ(*raw_of(*sent), f.large.substr(4 * kMaxPieceBytes, kMaxPieceBytes));
  EXPECT_EQ(f.store->list()->size(), 1u);
}

TEST(BlobCache, RefusesWhatDoesNotMatchItsDigest) {
  Fixture f;
  std::string wrong = f.large;
  wrong.back() = 'x';
  Result<bool> put = false;
  for (std::uint64_t at = 0; put && at < wrong.size(); at += kMaxPieceBytes)
    put = f.store->put_piece(
        make_piece(f.digest, wrong.size(), at, std::string_view(wrong).substr(at, kMaxPieceBytes)));
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::corrupt);
  EXPECT_FALSE(f.store->has(f.digest));
}

TEST(BlobCache, AfterABootItHasOnlyWhatWasSynced) {
  Fixture f;
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  f.reopen();
  EXPECT_EQ(*f.store->get(f.digest), f.large);
  f.reboot();
  EXPECT_FALSE(f.store->has(f.digest));
  EXPECT_TRUE(f.store->list()->empty());
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  ASSERT_TRUE(f.store->sync());
  EXPECT_EQ(content(f.path(".whole")), f.large);
  f.reboot();
  EXPECT_EQ(*f.store->get(f.digest), f.large);
}

TEST(BlobCache, WhatASyncFailedForIsMissing) {
  Fixture f;
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  {
    test::DiskFaults faults(test::all_disk_weather()[3], 1);
    const io::disk::InFront front(faults);
    EXPECT_FALSE(f.store->sync());
  }
  EXPECT_FALSE(f.store->has(f.digest));
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  EXPECT_TRUE(f.store->sync());
}

TEST(BlobCache, ATreeForAllSharesTheFile) {
  Fixture f;
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  const Digest root = f.tree(0640);
  ASSERT_TRUE(f.write(root, "first"));
  const auto linked = info_of(f.dir / "first/data");
  EXPECT_EQ(linked.st_ino, info_of(f.path(".fresh")).st_ino);
  EXPECT_EQ(linked.st_mode & 07777, 0644u);
  ASSERT_TRUE(f.store->sync());
  ASSERT_TRUE(f.write(root, "second"));
  EXPECT_EQ(info_of(f.dir / "second/data").st_ino, linked.st_ino);
  // One file has one mode.
  ASSERT_TRUE(f.write(f.tree(0755), "program"));
  EXPECT_EQ(info_of(f.dir / "program/data").st_mode & 07777, 0755u);
  EXPECT_NE(info_of(f.dir / "program/data").st_ino, linked.st_ino);
  EXPECT_EQ(content(f.dir / "program/data"), f.large);
  EXPECT_EQ(info_of(f.dir / "first/data").st_mode & 07777, 0644u);
}

TEST(BlobCache, ATreeOfAUserHasItsOwnFiles) {
  Fixture f;
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  ASSERT_TRUE(f.write(f.tree(0600), "out", false));
  EXPECT_EQ(info_of(f.dir / "out/data").st_nlink, 1u);
  EXPECT_EQ(content(f.dir / "out/data"), f.large);
}

TEST(BlobCache, VerifiesAnOlderFileBeforeATreeGetsIt) {
  Fixture f;
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  ASSERT_TRUE(f.store->sync());
  const Digest root = f.tree(0644);
  f.reopen();
  damage(f.path(".whole"));
  const Status written = f.write(root, "out");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::corrupt);
  EXPECT_FALSE(f.store->has(f.digest));
  ASSERT_TRUE(io::remove_tree(f.dir / "out"));
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  EXPECT_TRUE(f.write(root, "out"));
}

// Its own mode is changed for the first link, and further links change its times of names.
TEST(BlobCache, VerifiesAFileAgainThatWasWrittenTo) {
  Fixture f;
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  ASSERT_TRUE(f.write(f.tree(0644), "before"));
  ASSERT_TRUE(f.store->sync());
  damage(f.path(".whole"));
  EXPECT_EQ(f.write(f.tree(0644, "other"), "out").error().code, ErrorCode::corrupt);
  EXPECT_FALSE(f.store->has(f.digest));
  ASSERT_TRUE(io::remove_tree(f.dir / "out"));
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  ASSERT_TRUE(f.write(f.tree(0644, "other"), "out"));
  EXPECT_EQ(content(f.dir / "out/other"), f.large);
}

TEST(BlobCache, TreesWithADamagedFileAreNotFoundAnyMore) {
  Fixture f;
  const auto trees = *TreeCache::open(f.dir / "trees");
  f.store->on_damage([&](const FileIdentity& file) { trees->set_aside(file); });
  MaterializeOptions all;
  all.for_all = true;
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  const Digest root = f.tree(0644), other = f.tree(0644, "other");
  ASSERT_TRUE(f.store->put(sha256("small"), "small"));
  Directory apart;
  apart.entries = {{"small", EntryKind::file, 0644, 5, sha256("small"), {}}};
  ASSERT_TRUE(f.store->put(sha256(encode(apart)), encode(apart)));
  const std::string path = *trees->get(*f.store, root, all);
  ASSERT_TRUE(trees->get(*f.store, other, all));
  ASSERT_TRUE(trees->get(*f.store, sha256(encode(apart)), all));
  damage(f.path(".fresh"));
  EXPECT_FALSE(f.store->get(f.digest)) << "a reader finds it";
  EXPECT_EQ(trees->find(root, all), "");
  EXPECT_EQ(trees->find(other, all), "");
  EXPECT_NE(trees->find(sha256(encode(apart)), all), "") << "it has another file";
  const auto list = *trees->list();
  ASSERT_EQ(list.size(), 3u);
  for (const auto& tree : list) {
    EXPECT_TRUE(io::exists(tree.path)) << "a part may use it";
    if (tree.root == root) {
      EXPECT_EQ(tree.found_as, path);
    }
  }
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  EXPECT_EQ(content(*trees->get(*f.store, root, all) + "/data"), f.large);
}

TEST(BlobCache, AFileThatSomebodyRemovedIsMissing) {
  Fixture f;
  ASSERT_TRUE(f.store->put(f.digest, f.large));
  std::filesystem::remove(f.path(".fresh"));
  EXPECT_FALSE(f.store->get(f.digest));
  EXPECT_FALSE(f.store->has(f.digest));
  EXPECT_TRUE(f.store->sync());
}

// Blobs that a launcher's store, or an older cache, keeps in pieces.
TEST(BlobCache, ReadsBlobsInPieces) {
  Fixture f;
  f.store.reset();
  {
    const auto older = *BlobStore::open(f.dir / "blobs");
    ASSERT_TRUE(older->put(f.digest, f.large));
  }
  f.reopen();
  EXPECT_EQ(*f.store->get(f.digest), f.large);
  ASSERT_TRUE(f.write(f.tree(0644), "out"));
  EXPECT_EQ(content(f.dir / "out/data"), f.large);
}

}  // namespace
}  // namespace lockstep::snapshot
