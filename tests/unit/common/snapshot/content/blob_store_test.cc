#include "common/snapshot/content/blob_store.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "common/snapshot/content/blob_pack.h"
#include "common/snapshot/content/compress.h"
#include "common/snapshot/manifest.h"
#include "tests/unit/common/snapshot/trees.h"
#include "tests/unit/support/noise.h"

namespace lockstep::snapshot {
namespace {

std::unique_ptr<BlobStore> must_open(const std::string& path) {
  auto store = BlobStore::open(path);
  EXPECT_TRUE(store) << store.error().message;
  return store ? *std::move(store) : nullptr;
}

using test::noise;

std::vector<std::string> samples() {
  std::string mixed = noise(1 << 20) + std::string(3 << 20, 'z') + noise(77);
  return {"",
          "a",
          std::string(100'000, 'x'),
          noise(128 << 10),
          noise(kPackedBytes),
          noise(kPackedBytes + 1),
          std::string(1 << 20, 'y'),
          noise((1 << 20) + 1, 2),
          std::move(mixed)};
}

std::vector<BlobPiece> cut(const std::string& raw) {
  std::vector<BlobPiece> pieces;
  std::uint64_t offset = 0;
  do {
    const auto part = std::string_view(raw).substr(offset, kMaxPieceBytes);
    pieces.push_back(make_piece(sha256(raw), raw.size(), offset, part));
    offset += kMaxPieceBytes;
  } while (offset < raw.size());
  return pieces;
}

TEST(BlobStore, RoundTripOfAllSizesAndAfterReopening) {
  TempDir dir;
  for (int round = 0; round < 2; ++round) {
    const auto store = must_open(dir / "blobs");
    for (const std::string& raw : samples()) {
      const Digest digest = sha256(raw);
      EXPECT_EQ(store->has(digest), round == 1);
      ASSERT_TRUE(store->put(digest, raw));
      EXPECT_TRUE(store->has(digest));
      EXPECT_EQ(store->size(digest), raw.size());
      const auto back = store->get(digest);
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(*back, raw);
    }
    ASSERT_TRUE(store->sync());
  }
}

TEST(BlobStore, RefusesAWrongDigest) {
  TempDir dir;
  const auto store = must_open(dir / "blobs");
  for (const std::string& raw : samples()) {
    const Digest wrong = sha256(raw + "!");
    const Status put = store->put(wrong, raw);
    ASSERT_FALSE(put);
    EXPECT_EQ(put.error().code, ErrorCode::corrupt);
    EXPECT_FALSE(store->has(wrong));
  }
}

TEST(BlobStore, PiecesInAnyOrderAndDoubled) {
  TempDir dir;
  const auto sender = must_open(dir / "from");
  const auto store = must_open(dir / "to");
  std::mt19937 random(3);
  for (const std::string& raw : samples()) {
    const Digest digest = sha256(raw);
    ASSERT_TRUE(sender->put(digest, raw));
    std::vector<BlobPiece> pieces;
    for (std::uint64_t offset = 0; offset == 0 || offset < raw.size(); offset += kMaxPieceBytes) {
      auto piece = sender->piece(digest, offset);
      ASSERT_TRUE(piece) << piece.error().message;
      pieces.push_back(*piece);
      if (offset % 3 == 0) pieces.push_back(*piece);
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    bool complete = false;
    for (const BlobPiece& piece : pieces) {
      const auto put = store->put_piece(piece, "peer");
      ASSERT_TRUE(put) << put.error().message;
      complete = *put;
    }
    EXPECT_TRUE(complete);
    EXPECT_EQ(*store->get(digest), raw);
    EXPECT_FALSE(sender->piece(digest, 7));
    EXPECT_FALSE(sender->piece(digest, (raw.size() / kMaxPieceBytes + 1) * kMaxPieceBytes));
  }
}

TEST(BlobStore, HostilePiecesChangeNothing) {
  TempDir dir;
  const auto store = must_open(dir / "blobs");
  const std::string raw = noise(3 << 20);
  const auto pieces = cut(raw);
  BlobPiece bad = pieces[1];
  bad.data[5] = static_cast<char>(bad.data[5] + 1);
  // The mallory's upload fails at its end; the honest one is another.
  ASSERT_TRUE(store->put_piece(pieces[0], "mallory"));
  ASSERT_TRUE(store->put_piece(pieces[0], "honest"));
  ASSERT_TRUE(store->put_piece(bad, "mallory"));
  ASSERT_TRUE(store->put_piece(pieces[1], "honest"));
  const auto failed = store->put_piece(pieces[2], "mallory");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::corrupt);
  EXPECT_FALSE(store->has(sha256(raw)));
  EXPECT_TRUE(*store->put_piece(pieces[2], "honest"));
  EXPECT_EQ(*store->get(sha256(raw)), raw);

  const Digest other = sha256("other");
  const auto refused = [&](BlobPiece piece) { EXPECT_FALSE(store->put_piece(piece, "mallory")); };
  refused({other, 3 << 20, 1, false, "x"});
  refused({other, 3 << 20, 3 << 20, false, ""});
  refused({other, 3 << 20, 0, false, "short"});
  refused({other, 5, 0, false, "wrong"});
  refused({other, 0, 1 << 20, false, ""});
  refused({other, UINT64_MAX, 0, false, std::string(1 << 20, 'x')});
  refused({other, 3 << 20, 0, true, "not zstd"});
  // A frame that says it is far larger than its piece.
  refused({other, 100, 0, true, *compress_if_smaller(std::string(50 << 20, 'b'))});
  EXPECT_FALSE(store->has(other));
  store->abandon("mallory");
}

TEST(BlobStore, AHalfUploadThatIsGivenUpTakesNoSpace) {
  TempDir dir;
  const auto store = must_open(dir / "blobs");
  const std::string first = noise(2 << 20, 1), second = noise(2 << 20, 2);
  const auto half_files = [&] { return io::list_directory(dir / "blobs/tmp")->size(); };
  ASSERT_TRUE(store->put_piece(cut(first)[0], "p"));
  ASSERT_TRUE(store->put_piece(cut(first)[0], "q"));
  ASSERT_TRUE(store->put_piece(cut(second)[0], "p"));
  ASSERT_EQ(half_files(), 3u);
  store->abandon("p", sha256(first));
  store->abandon("p", sha256("what nobody sends"));
  EXPECT_EQ(half_files(), 2u);
  EXPECT_TRUE(*store->put_piece(cut(first)[1], "q"));
  EXPECT_TRUE(*store->put_piece(cut(second)[1], "p"));
}

TEST(BlobStore, HalfUploadsAreBounded) {
  TempDir dir;
  const auto store = must_open(dir / "blobs");
  const std::string first = noise(2 << 20, 100'000);
  ASSERT_TRUE(store->put_piece(cut(first)[0], "p"));
  for (unsigned i = 0; i < kMaxOpenUploads; ++i) {
    BlobPiece piece{sha256(std::to_string(i)), 2 << 20, 0, true,
                    *compress_if_smaller(std::string(1 << 20, 'a'))};
    ASSERT_TRUE(store->put_piece(piece, "p"));
  }
  // The first upload was let go: it needs both pieces again.
  EXPECT_FALSE(*store->put_piece(cut(first)[1], "p"));
  EXPECT_TRUE(*store->put_piece(cut(first)[0], "p"));
}

TEST(BlobStore, MissingFromFindsExactlyWhatIsMissing) {
  TempDir dir, tree;
  tree.file("a", "aa");
  tree.file("s/b", "bb");
  tree.file("s/t/c", "cc");
  tree.file("s/t/same", "aa");
  tree.folder("empty");
  auto captured = capture(tree.path(), {});
  ASSERT_TRUE(captured);
  const auto store = must_open(dir / "blobs");
  std::vector<Digest> missing = *store->missing_from(captured->root);
  EXPECT_EQ(missing, std::vector<Digest>{captured->root});
  for (const auto& object : captured->directories) {
    ASSERT_TRUE(store->put(object.digest, object.bytes));
  }
  missing = *store->missing_from(captured->root);
  EXPECT_EQ(std::set<Digest>(missing.begin(), missing.end()),
            (std::set<Digest>{sha256("aa"), sha256("bb"), sha256("cc")}));
  EXPECT_EQ(missing.size(), 3u);
  store_all(*captured, *store);
  EXPECT_TRUE(store->missing_from(captured->root)->empty());
  EXPECT_TRUE(store->missing({captured->root, sha256("cc")})->empty());
  EXPECT_EQ(store->missing({sha256("none")})->size(), 1u);
}

TEST(BlobStore, ARootThatIsNoDirectoryIsRefused) {
  TempDir dir;
  const auto store = must_open(dir / "blobs");
  ASSERT_TRUE(store->put(sha256("hello"), "hello"));
  const auto missing = store->missing_from(sha256("hello"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::corrupt);
}

TEST(BlobStore, DamageOnDiskIsFoundAndDropped) {
  TempDir dir;
  const std::string small = noise(5000, 1), large = noise(2 << 20, 2);
  {
    const auto store = must_open(dir / "blobs");
    ASSERT_TRUE(store->put(sha256(small), small));
    ASSERT_TRUE(store->put(sha256(large), large));
    ASSERT_TRUE(store->sync());
  }
  const auto flip = [&](const std::string& path, std::size_t at) {
    std::string bytes = dir.read(path);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    dir.file(path, bytes, 0600);
  };
  const std::string hex = sha256(large).hex();
  flip("blobs/packs/1.pack", 1000);
  flip("blobs/" + hex.substr(0, 2) + "/" + hex.substr(2), 700'000);
  const auto store = must_open(dir / "blobs");
  for (const std::string* raw : {&small, &large}) {
    const Digest digest = sha256(*raw);
    EXPECT_TRUE(store->has(digest));
    const auto got = store->get(digest);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::corrupt);
    EXPECT_FALSE(store->has(digest));
    ASSERT_TRUE(store->put(digest, *raw));
    EXPECT_EQ(*store->get(digest), *raw);
  }
}

TEST(BlobStore, OneProcessAtATime) {
  TempDir dir;
  const auto store = must_open(dir / "blobs");
  const auto second = BlobStore::open(dir / "blobs");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
}

// kill -9 in mid-put, many times over one store: what is listed is whole, and the rest can be put
// again.
TEST(BlobStore, KilledInMidPutNothingHalfIsUsable) {
  TempDir dir;
  std::mt19937 random(11);
  for (int round = 0; round < 12; ++round) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = BlobStore::open(dir / "blobs");
      for (unsigned i = 0; store; ++i) {
        const std::string raw = noise(i % 7 == 0 ? 1'500'000 : 1 + i * 37 % 60'000, i);
        if (!(*store)->put(sha256(raw), raw)) ::_exit(1);
        if (i % 5 == 0 && !(*store)->sync()) ::_exit(1);
        if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      }
      ::_exit(2);
    }
    ::close(ready[1]);
    char byte = 0;
    for (unsigned n = 1 + random() % 40; n > 0; --n) ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ::close(ready[0]);

    const auto store = must_open(dir / "blobs");
    ASSERT_NE(store, nullptr);
    for (unsigned i = 0; i < 60; ++i) {
      const std::string raw = noise(i % 7 == 0 ? 1'500'000 : 1 + i * 37 % 60'000, i);
      if (store->has(sha256(raw))) {
        const auto got = store->get(sha256(raw));
        ASSERT_TRUE(got) << got.error().message;
        EXPECT_EQ(*got, raw);
      }
    }
  }
}

TEST(BlobStore, ReadersAndAWriterTogether) {
  TempDir dir;
  const auto store = must_open(dir / "blobs");
  std::atomic<unsigned> written{0};
  std::vector<std::thread> readers;
  std::atomic<unsigned> wrong{0};
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      std::mt19937 random(static_cast<unsigned>(r));
      while (written < 400) {
        const unsigned i = written == 0 ? 0 : random() % written;
        if (written == 0) continue;
        const std::string raw = noise(i % 50 == 0 ? 200'000 : 100 + i, i);
        const auto got = store->get(sha256(raw));
        if (!got || *got != raw) ++wrong;
      }
    });
  }
  for (unsigned i = 0; i < 400; ++i) {
    const std::string raw = noise(i % 50 == 0 ? 200'000 : 100 + i, i);
    ASSERT_TRUE(store->put(sha256(raw), raw));
    if (i % 20 == 0) {
      ASSERT_TRUE(store->sync());
    }
    ++written;
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace lockstep::snapshot
