// The blob store on a disk that says no, at every call that would change it: a blob that was said
// to be here is here after the next start, whole, and a store that was refused space takes blobs
// again once there is some.

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "common/snapshot/content/blob_pack.h"
#include "common/snapshot/content/compress.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

using testing::HasSubstr;

std::string text_of(int i, std::size_t size) {
  std::string text = std::to_string(i) + ":";
  for (std::uint32_t x = static_cast<std::uint32_t>(i) + 1; text.size() < size;) {
    x = x * 1664525u + 1013904223u;
    text += static_cast<char>(x >> 24);
  }
  return text;
}

class BlobFaults : public testing::Test {
 protected:
  BlobFaults() {
    for (int i = 0; i < 4; ++i) small_.push_back(text_of(i, 3'000));
    for (int i = 4; i < 6; ++i) large_.push_back(text_of(i, kPackedBytes + 1'000));
  }

  std::vector<Digest> digests() const {
    std::vector<Digest> all;
    for (const auto& text : small_) all.push_back(sha256(text));
    for (const auto& text : large_) all.push_back(sha256(text));
    return all;
  }
  Status put_all(BlobStore& store) const {
    for (const auto& text : small_) TRY(store.put(sha256(text), text));
    for (const auto& text : large_) TRY(store.put(sha256(text), text));
    return {};
  }
  // As a client would: sends, asks what is missing, and sends that again. What is not missing was
  // acknowledged.
  Status live(const std::string& root) {
    TRY_ASSIGN(const auto store, BlobStore::open(root));
    Status last;
    for (int round = 0; round < 2; ++round) {
      last = put_all(*store);
      const auto missing = store->missing(digests());
      if (!missing) {
        last = missing.error();
        continue;
      }
      for (const Digest& digest : digests())
        if (std::find(missing->begin(), missing->end(), digest) == missing->end())
          acknowledged_.insert(digest);
    }
    return last;
  }

  const test::TempDir dir_{test::quick_directory()};
  const std::string& directory_ = dir_.path();
  std::vector<std::string> small_, large_;
  std::set<Digest> acknowledged_;
};

TEST_F(BlobFaults, WhatWasSaidToBeHereIsHereWhereverTheDiskSaysNo) {
  const int runs = test::each_fault([this](test::DiskFaults& faults, const std::string& where) {
    SCOPED_TRACE(where);
    acknowledged_.clear();
    const std::string root = directory_ + "/blobs";
    Status lived;
    {
      const io::disk::InFront front(faults);
      lived = live(root);
    }
    if (!lived) {
      EXPECT_THAT(lived.error().message, HasSubstr(root));
      EXPECT_NE(lived.error().code, ErrorCode::corrupt);
    }
    {
      const auto store = BlobStore::open(root);
      ASSERT_TRUE(store) << store.error().message;
      for (const Digest& digest : acknowledged_) {
        const auto blob = (*store)->get(digest, mebibytes(4));
        EXPECT_TRUE(blob) << blob.error().message;
      }
      // All is well again.
      EXPECT_TRUE(put_all(**store));
      EXPECT_EQ((*store)->missing(digests())->size(), 0u);
      for (const Digest& digest : digests()) EXPECT_TRUE((*store)->get(digest, mebibytes(4)));
    }
    ASSERT_TRUE(io::remove_tree(root));
  });
  EXPECT_GT(runs, 60);
}

// Who waits for space tells why each time it tries: the same words, without a file of that try.
TEST_F(BlobFaults, AFullDiskIsToldInTheSameWordsAtEachTry) {
  const std::string root = directory_ + "/blobs";
  const auto store = BlobStore::open(root);
  ASSERT_TRUE(store);
  for (const std::string& text : {small_[0], large_[0]}) {
    std::set<std::string> said;
    for (int tries = 0; tries < 3; ++tries) {
      test::DiskFaults faults(test::all_disk_weather()[1], 1);
      const io::disk::InFront front(faults);
      const auto piece = make_piece(sha256(text), text.size(), 0,
                                    std::string_view(text).substr(0, kMaxPieceBytes));
      const auto put = (*store)->put_piece(piece, "node");
      ASSERT_FALSE(put);
      EXPECT_EQ(put.error().code, ErrorCode::resource_exhausted);
      said.insert(put.error().message);
    }
    EXPECT_THAT(said, testing::ElementsAre("cannot write into " + root +
                                           ": No space left on device; free space there"));
  }
}

// Each file of a try has another name; who waits hears of the disk, and what to do.
TEST_F(BlobFaults, WhateverAilsTheDiskIsToldInTheSameWordsWithItsRemedy) {
  const std::string root = directory_ + "/blobs";
  const auto store = BlobStore::open(root);
  ASSERT_TRUE(store);
  const std::vector<std::pair<int, std::string>> ailments = {
      {EIO, "Input/output error; repair that disk"},
      {EROFS, "Read-only file system; repair that disk and mount it writable"},
      {EMFILE, "Too many open files; raise this program's limit of open files (ulimit -n)"}};
  for (const auto& [error, words] : ailments) {
    std::set<std::string> said;
    for (int tries = 0; tries < 2; ++tries) {
      test::DiskFaults faults({"", error, true, false, test::growing_calls()}, 1);
      const io::disk::InFront front(faults);
      const auto piece = make_piece(sha256(large_[0]), large_[0].size(), 0,
                                    std::string_view(large_[0]).substr(0, kMaxPieceBytes));
      const auto put = (*store)->put_piece(piece, "node");
      ASSERT_FALSE(put);
      said.insert(put.error().message);
    }
    EXPECT_THAT(said, testing::ElementsAre("cannot write into " + root + ": " + words));
  }
}

// A launcher that once had no descriptor left refused all that was sent until it started again.
TEST_F(BlobFaults, AFolderThatCannotBeOpenedToBeSyncedIsSyncedLater) {
  const std::string root = directory_ + "/blobs";
  const auto store = BlobStore::open(root);
  ASSERT_TRUE(store);
  for (const std::string& text : large_) ASSERT_TRUE((*store)->put(sha256(text), text));
  {
    test::DiskFaults faults({"", EMFILE, true, false, {io::disk::Call::open}}, 1);
    const io::disk::InFront front(faults);
    const Status synced = (*store)->sync();
    ASSERT_FALSE(synced);
    EXPECT_THAT(synced.error().message, HasSubstr("limit of open files"));
  }
  {
    test::DiskFaults faults({"", EIO, true, false, {io::disk::Call::sync}}, 1);
    const io::disk::InFront front(faults);
    EXPECT_FALSE((*store)->sync()) << "the folders are still to be synced";
    EXPECT_TRUE(faults.struck());
  }
  const Status broken = (*store)->sync();
  ASSERT_FALSE(broken) << "another sync would prove nothing";
  EXPECT_THAT(broken.error().message, HasSubstr("start this program again"));
}

// The kernel says once that it dropped bytes: the second sync would be believed.
TEST_F(BlobFaults, WhatASyncFailedForIsMissingAndComesAgain) {
  const std::string root = directory_ + "/blobs";
  const auto store = BlobStore::open(root);
  ASSERT_TRUE(store);
  ASSERT_TRUE((*store)->put(sha256(small_[0]), small_[0]));
  ASSERT_EQ((*store)->missing({sha256(small_[0])})->size(), 0u);
  ASSERT_TRUE((*store)->put(sha256(small_[1]), small_[1]));
  {
    test::DiskFaults faults(test::all_disk_weather()[3], 1);
    const io::disk::InFront front(faults);
    const auto missing = (*store)->missing({sha256(small_[1])});
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, HasSubstr("fdatasync " + root));
  }
  EXPECT_THAT(*(*store)->missing({sha256(small_[0]), sha256(small_[1])}),
              testing::ElementsAre(sha256(small_[1])));
  ASSERT_TRUE((*store)->put(sha256(small_[1]), small_[1]));
  EXPECT_EQ((*store)->missing({sha256(small_[1])})->size(), 0u);
  EXPECT_EQ(*(*store)->get(sha256(small_[1]), mebibytes(1)), small_[1]);
}

// A pack that is written anew stays until its copy is durable.
TEST_F(BlobFaults, ACollectionLosesNothingWhereverTheDiskSaysNo) {
  test::each_fault([this](test::DiskFaults& faults, const std::string& where) {
    SCOPED_TRACE(where);
    const std::string folder = directory_ + "/packs";
    {
      auto packs = PackSet::open(folder);
      ASSERT_TRUE(packs);
      for (const auto& text : small_)
        ASSERT_TRUE(
            (*packs)->append(sha256(text), static_cast<std::uint32_t>(text.size()), false, text));
      ASSERT_TRUE((*packs)->sync());
      {
        const io::disk::InFront front(faults);
        (void)(*packs)->expel({sha256(small_[0])});
      }
      for (std::size_t i = 1; i < small_.size(); ++i)
        EXPECT_TRUE((*packs)->read(sha256(small_[i]))) << i;
      EXPECT_TRUE((*packs)->sync());
    }
    auto packs = PackSet::open(folder);
    ASSERT_TRUE(packs);
    for (std::size_t i = 1; i < small_.size(); ++i) {
      const auto blob = (*packs)->read(sha256(small_[i]));
      ASSERT_TRUE(blob) << i << ": " << blob.error().message;
      EXPECT_EQ(blob->data, small_[i]);
    }
    ASSERT_TRUE(io::remove_tree(folder));
  });
}

}  // namespace
}  // namespace lockstep::snapshot
