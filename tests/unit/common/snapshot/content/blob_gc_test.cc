// Collection of blobs: what nobody refers to goes, whatever else happens meanwhile stays.

#include "common/snapshot/content/blob_gc.h"

#include <filesystem>
#include <thread>

#include "common/io/file_system.h"
#include "common/snapshot/content/blob_pack.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/manifest.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::snapshot {
namespace {

constexpr Duration kNoLease(0);

class BlobGc : public ::testing::Test {
 protected:
  BlobGc() { open(); }
  void open() {
    store.reset();
    auto opened = BlobStore::open(dir.path() + "/blobs");
    ASSERT_TRUE(opened) << opened.error().message;
    store = *std::move(opened);
  }
  // A tree of one folder with these files.
  Digest tree(const std::vector<std::string>& files) {
    Directory inner;
    for (std::size_t i = 0; i < files.size(); ++i) {
      EXPECT_TRUE(store->put(sha256(files[i]), files[i]));
      Entry entry;
      entry.name = "file" + std::to_string(1000 + i);
      entry.mode = 0644;
      entry.size = files[i].size();
      entry.digest = sha256(files[i]);
      inner.entries.push_back(entry);
    }
    const std::string folder = encode(inner);
    EXPECT_TRUE(store->put(sha256(folder), folder));
    Entry entry;
    entry.name = "folder";
    entry.kind = EntryKind::directory;
    entry.mode = 0755;
    entry.size = folder.size();
    entry.digest = sha256(folder);
    const std::string root = encode(Directory{{entry}});
    EXPECT_TRUE(store->put(sha256(root), root));
    EXPECT_TRUE(store->sync());
    return sha256(root);
  }
  bool whole(const Digest& root) {
    const auto missing = store->missing_from(root);
    EXPECT_TRUE(missing) << missing.error().message;
    return missing && missing->empty();
  }
  // The first half: up to where the owner names its trees again.
  std::size_t condemn(BlobCollection& collection, const std::vector<Digest>& trees) {
    EXPECT_TRUE(collection.mark(trees));
    const auto count = collection.condemn();
    EXPECT_TRUE(count) << count.error().message;
    return count.value_or(0);
  }
  Collected collect(const std::vector<Digest>& trees, Duration lease = kNoLease) {
    BlobCollection collection(*store, lease);
    condemn(collection, trees);
    EXPECT_TRUE(collection.spare(trees));
    const auto swept = collection.sweep();
    EXPECT_TRUE(swept) << swept.error().message;
    return swept.value_or(Collected{});
  }
  std::uintmax_t bytes_on_disk() const {
    std::uintmax_t total = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.path()))
      if (entry.is_regular_file()) total += entry.file_size();
    return total;
  }
  static std::string big(char c) { return std::string(kPackedBytes, 'a') + std::string(5'000, c); }

  TempDir dir;
  std::unique_ptr<BlobStore> store;
};

TEST_F(BlobGc, WhatNoTreeHoldsIsRemovedSmallAndLarge) {
  const Digest kept = tree({"one", "shared", big('k')});
  const Digest gone = tree({"two", "shared", big('g')});
  const Collected collected = collect({kept});
  EXPECT_EQ(collected.blobs, 4u);  // two folders, "two", the large one
  EXPECT_TRUE(whole(kept));
  EXPECT_FALSE(store->has(sha256("two")));
  EXPECT_FALSE(store->has(sha256(big('g'))));
  EXPECT_FALSE(whole(gone));
  EXPECT_EQ(collect({kept}).blobs, 0u);
}

TEST_F(BlobGc, PacksThatHoldLittleOfUseBecomeSmall) {
  std::vector<std::string> files;
  for (int i = 0; i < 400; ++i) {
    std::string text;
    for (int j = 0; j < 64; ++j) text += sha256(std::to_string(i * 1000 + j)).view();
    files.push_back(text);
  }
  const Digest gone = tree(files);
  const Digest kept = tree({files[7], "mine"});
  const auto before = bytes_on_disk();
  EXPECT_GT(collect({kept}).bytes, 400u * 2000);
  EXPECT_LT(bytes_on_disk(), before / 10);
  EXPECT_TRUE(whole(kept));
  EXPECT_TRUE(store->get(sha256(files[7])));
  open();
  EXPECT_TRUE(whole(kept)) << "after reopening";
  EXPECT_FALSE(store->has(sha256(files[8])));
  EXPECT_FALSE(whole(gone));
}

TEST_F(BlobGc, WhereSpaceIsShortOnlyALastingLeaseLasts) {
  const auto asked = [&](const Digest& digest, Lease lease) {
    EXPECT_TRUE(store->missing({digest}, lease));
  };
  tree({"sent"});
  open();  // nothing is leased by being sent here
  asked(sha256("sent"), Lease::brief);
  const auto collect_short = [&] {
    BlobCollection collection(*store, {minutes(5), kNoLease, kNoLease});
    condemn(collection, {});
    EXPECT_TRUE(collection.spare({}));
    return collection.sweep().value_or(Collected{}).blobs;
  };
  EXPECT_EQ(collect({}, minutes(5)).blobs, 0u);
  asked(sha256("sent"), Lease::lasting);
  asked(sha256("sent"), Lease::brief);
  EXPECT_EQ(collect_short(), 2u) << "the folders";
  EXPECT_TRUE(store->has(sha256("sent")));
  open();
  asked(sha256("sent"), Lease::brief);
  EXPECT_GE(collect_short(), 1u);
  EXPECT_FALSE(store->has(sha256("sent")));
  const auto missing = store->missing({sha256("sent")}, Lease::brief);
  EXPECT_EQ(missing.value(), (std::vector<Digest>{sha256("sent")}))
      << "whoever asks sends it again";
}

// What waits for its brief lease alone is worth another look soon; the rest is not.
TEST_F(BlobGc, WhereSpaceIsShortItSaysThatMoreGoesSoon) {
  const auto more_soon = [&](const std::vector<Digest>& trees, Duration lasting, Duration brief) {
    BlobCollection collection(*store, {lasting, brief, kNoLease});
    condemn(collection, trees);
    EXPECT_TRUE(collection.spare(trees));
    return collection.sweep().value_or(Collected{}).more_soon;
  };
  const Digest root = tree({"sent"});
  open();
  EXPECT_FALSE(more_soon({root}, minutes(5), minutes(5))) << "nothing is leased";
  ASSERT_TRUE(store->missing({sha256("sent")}, Lease::brief));
  EXPECT_FALSE(more_soon({root}, minutes(5), minutes(5))) << "it is referred to";
  EXPECT_TRUE(more_soon({}, minutes(5), minutes(5)));
  ASSERT_TRUE(store->missing({sha256("sent")}, Lease::lasting));
  EXPECT_FALSE(more_soon({}, minutes(5), minutes(5))) << "for its lasting lease";
  EXPECT_FALSE(more_soon({}, kNoLease, kNoLease)) << "it went";

  const std::string raw = big('u');
  ASSERT_TRUE(store->put_piece(
      make_piece(sha256(raw), raw.size(), 0, raw.substr(0, kMaxPieceBytes)), "peer", Lease::brief));
  EXPECT_TRUE(more_soon({}, minutes(5), minutes(5))) << "half an upload";
  EXPECT_FALSE(more_soon({}, minutes(5), kNoLease));
}

TEST_F(BlobGc, WhatHasComeSinceItWasOpenedIsNotLeasedFromThen) {
  tree({"old"});
  open();
  for (const std::string& raw : {std::string("new"), big('n')})
    for (std::size_t at = 0; at < raw.size(); at += kMaxPieceBytes)
      ASSERT_TRUE(
          store->put_piece(make_piece(sha256(raw), raw.size(), at, raw.substr(at, kMaxPieceBytes)),
                           "peer", Lease::brief));
  ASSERT_TRUE(store->sync());
  ASSERT_TRUE(store->missing({sha256("old")}, Lease::brief));
  BlobCollection collection(*store, {minutes(5), kNoLease, minutes(5)});
  EXPECT_EQ(condemn(collection, {}), 2u);
  EXPECT_TRUE(store->has(sha256("old")));
  EXPECT_FALSE(store->has(sha256("new")));
}

TEST_F(BlobGc, WhereSpaceIsShortHalfAnUploadGoesToo) {
  const std::string raw = big('u');
  const Digest digest = sha256(raw);
  const auto piece = make_piece(digest, raw.size(), 0, raw.substr(0, kMaxPieceBytes));
  for (const Lease lease : {Lease::brief, Lease::lasting}) {
    ASSERT_TRUE(store->put_piece(piece, "peer", lease));
    BlobCollection collection(*store, {minutes(5), kNoLease, kNoLease});
    condemn(collection, {});
    ASSERT_TRUE(collection.sweep());
    EXPECT_EQ(io::list_directory(dir.path() + "/blobs/tmp")->size(),
              lease == Lease::lasting ? 1u : 0u);
  }
}

TEST_F(BlobGc, WhatWasThereWhenItWasOpenedIsLeasedFromThen) {
  tree({"one"});
  open();
  EXPECT_EQ(collect({}, minutes(5)).blobs, 0u);
  EXPECT_EQ(collect({}).blobs, 3u);
}

TEST_F(BlobGc, WhatAClientWasToldIsHereStaysForTheLease) {
  const Digest root = tree({"one"});
  ASSERT_TRUE(store->missing({sha256("one")}));
  EXPECT_EQ(collect({}, minutes(5)).blobs, 0u);
  EXPECT_TRUE(whole(root));
}

TEST_F(BlobGc, ALeasedTreeStaysWhole) {
  const Digest root = tree({"one", "two"});
  BlobCollection collection(*store, kNoLease);
  ASSERT_EQ(condemn(collection, {}), 4u);
  store->lease(root);  // a submission of it is being looked at
  ASSERT_TRUE(collection.spare({}));
  ASSERT_TRUE(collection.sweep());
  EXPECT_TRUE(whole(root));
}

// ---- what a running job has replaced
// -------------------------------------------------------------

class BlobGcOfAJob : public BlobGc {
 protected:
  static constexpr Asker kJob = 7, kOther = 8;
  static constexpr Duration kLong = minutes(60);

  // As a node sends a version of a folder: it asks for all, and sends what is missing.
  Digest sent(const std::vector<std::string>& files, Asker asker) {
    std::vector<std::string> blobs = files;
    blobs.push_back(folder_of(files));
    std::vector<Digest> all;
    for (const std::string& bytes : blobs) all.push_back(sha256(bytes));
    const Digest root = all.back();
    EXPECT_TRUE(store->missing(all, Lease::lasting, asker));
    for (const std::string& bytes : blobs)
      EXPECT_TRUE(store->put_piece(make_piece(sha256(bytes), bytes.size(), 0, bytes), "node",
                                   Lease::lasting, asker));
    EXPECT_TRUE(store->missing(all, Lease::lasting, asker));
    EXPECT_TRUE(store->sync());
    store->lease(root, BlobStore::Why::reported);
    return root;
  }
  // Of trees that `asker` has replaced, `moment` after it last sent or asked for anything.
  void collect_released(
      const std::vector<Digest>& live, const std::vector<Digest>& released,
      Duration moment = kNoLease, Asker asker = kJob,
      std::chrono::steady_clock::time_point at = std::chrono::steady_clock::time_point::max()) {
    BlobCollection collection(*store, {kLong, kLong, kLong, moment});
    std::vector<BlobCollection::Released> trees;
    for (const Digest& one : released) trees.push_back({one, asker, at});
    collection.release(std::move(trees));
    condemn(collection, live);
    EXPECT_TRUE(collection.spare(live));
    EXPECT_TRUE(collection.sweep());
  }

 private:
  static std::string folder_of(const std::vector<std::string>& files) {
    Directory folder;
    for (std::size_t i = 0; i < files.size(); ++i) {
      Entry entry;
      entry.name = "file" + std::to_string(1000 + i);
      entry.mode = 0644;
      entry.size = files[i].size();
      entry.digest = sha256(files[i]);
      folder.entries.push_back(entry);
    }
    return encode(folder);
  }
};

TEST_F(BlobGcOfAJob, AReplacedVersionGoesBeforeItsLeaseEnds) {
  const Digest first = sent({"weights 1", "kept"}, kJob);
  const Digest second = sent({"weights 2", "kept"}, kJob);
  collect_released({second}, {});
  EXPECT_TRUE(whole(first)) << "nobody said that it was replaced";
  collect_released({second}, {first});
  EXPECT_FALSE(store->has(sha256("weights 1")));
  EXPECT_FALSE(store->has(first));
  EXPECT_TRUE(whole(second));
}

TEST_F(BlobGcOfAJob, WhatItSentAMomentAgoStays) {
  const Digest first = sent({"weights 1"}, kJob);
  const Digest second = sent({"weights 2"}, kJob);
  collect_released({second}, {first}, minutes(1));
  EXPECT_TRUE(whole(first)) << "its next version may have this again";
}

TEST_F(BlobGcOfAJob, WhatItSentAgainSinceIsOfANewerVersion) {
  const Digest first = sent({"best", "old"}, kJob);
  const Digest second = sent({"worse"}, kJob);
  const auto replaced_at = std::chrono::steady_clock::now();
  const Digest third = sent({"best"}, kJob);  // not reported yet
  collect_released({second}, {first}, kNoLease, kJob, replaced_at);
  EXPECT_TRUE(whole(third));
  EXPECT_FALSE(store->has(sha256("old")));
}

TEST_F(BlobGcOfAJob, WhatAnotherJobOrAUserHasSentOrAskedForStays) {
  const Digest first = sent({"weights 1", "asked by a user", "sent by a job", "plain"}, kJob);
  ASSERT_TRUE(store->missing({sha256("asked by a user")}, Lease::brief));
  const std::string same = "sent by a job";
  ASSERT_TRUE(store->put_piece(make_piece(sha256(same), same.size(), 0, same), "other node",
                               Lease::lasting, kOther));
  const Digest second = sent({"weights 2"}, kJob);
  collect_released({second}, {first});
  EXPECT_FALSE(store->has(sha256("weights 1")));
  EXPECT_FALSE(store->has(sha256("plain")));
  EXPECT_TRUE(store->has(sha256("asked by a user")));
  EXPECT_TRUE(store->has(sha256("sent by a job")));
}

TEST_F(BlobGcOfAJob, NobodyReleasesWhatAnotherJobSent) {
  const Digest first = sent({"weights 1"}, kOther);
  collect_released({}, {first}, kNoLease, kJob);
  EXPECT_TRUE(whole(first));
}

TEST_F(BlobGcOfAJob, WhatSomebodyIsAboutToReferToStays) {
  const Digest first = sent({"weights 1"}, kJob);
  store->lease(first);  // it was found for a submission that names it
  collect_released({}, {first});
  EXPECT_TRUE(whole(first));
}

TEST_F(BlobGc, WhatIsCondemnedCountsAsMissingAndIsThereAgainWhenItIsSent) {
  const Digest root = tree({"one", big('x')});
  BlobCollection collection(*store, kNoLease);
  ASSERT_EQ(condemn(collection, {}), 4u);
  EXPECT_FALSE(store->has(sha256("one")));
  EXPECT_FALSE(whole(root));
  const auto missing = store->missing({sha256("one"), sha256(big('x'))});
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->size(), 2u);
  ASSERT_TRUE(store->put(sha256("one"), "one"));
  ASSERT_TRUE(store->put(sha256(big('x')), big('x')));
  ASSERT_TRUE(collection.spare({}));
  const auto swept = collection.sweep();
  ASSERT_TRUE(swept);
  EXPECT_EQ(swept->blobs, 2u);  // the folders
  EXPECT_TRUE(store->get(sha256("one")));
  EXPECT_TRUE(store->get(sha256(big('x'))));
}

TEST_F(BlobGc, ATreeThatComesToBeReferredToInBetweenStays) {
  const Digest late = tree({"one", "two"});
  BlobCollection collection(*store, kNoLease);
  ASSERT_EQ(condemn(collection, {}), 4u);
  ASSERT_TRUE(collection.spare({late}));
  const auto swept = collection.sweep();
  ASSERT_TRUE(swept);
  EXPECT_EQ(swept->blobs, 0u);
  EXPECT_TRUE(whole(late));
}

TEST_F(BlobGc, OneThatIsCutShortSparesEverything) {
  const Digest root = tree({"one"});
  {
    BlobCollection collection(*store, kNoLease);
    condemn(collection, {});
    EXPECT_FALSE(whole(root));
  }
  EXPECT_TRUE(whole(root));
}

// Uploads and collections at once: whoever was told that all is there finds it there.
TEST_F(BlobGc, UploadsRaceWithCollections) {
  std::atomic<bool> stop = false;
  std::thread collector([&] {
    while (!stop) collect({}, kNoLease);
  });
  for (int round = 0; round < 300; ++round) {
    const std::vector<std::string> files{"file" + std::to_string(round % 7), "same"};
    Digest root;
    for (;;) {
      root = tree(files);
      store->lease(root);
      if (whole(root)) break;
    }
    for (const auto& file : files) {  // without a lease it may go again, but not in part
      const auto got = store->get(sha256(file));
      ASSERT_TRUE(got || got.error().code == ErrorCode::not_found) << got.error().message;
    }
  }
  stop = true;
  collector.join();
}

}  // namespace
}  // namespace lockstep::snapshot
