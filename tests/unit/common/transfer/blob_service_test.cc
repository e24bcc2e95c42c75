#include "common/transfer/blob_service.h"

#include <cerrno>
#include <map>

#include "common/io/file_error.h"
#include "common/snapshot/content/compress.h"
#include "common/transfer/refused.h"
#include "common/wire/messages/bulk.h"
#include "tests/fakes/disk/faults.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::transfer {
namespace {

using snapshot::BlobStore;
using snapshot::TempDir;

std::vector<BlobData> read_all(const BlobStore& store, GetBlobs request) {
  std::vector<BlobData> all;
  BlobReader reader(store, std::move(request));
  while (auto message = reader.next()) {
    EXPECT_LT(wire::encode(BulkEnvelope{1, 0, 1, *message}).size(), kMaxBulkMessageBytes);
    all.push_back(std::get<BlobData>(*message));
  }
  return all;
}

TEST(BlobService, AnswersInBoundedMessagesAndMarksTheLast) {
  TempDir dir;
  const auto store = *BlobStore::open(dir / "blobs");
  std::string large;
  for (int i = 0; large.size() < (7u << 20) + 5; ++i) large += sha256(std::to_string(i)).view();
  ASSERT_TRUE(store->put(sha256(large), large));
  GetBlobs request{{sha256(large), sha256("absent")}, 0, 0};
  for (int i = 0; i < 9'000; ++i) {
    const std::string text = std::to_string(i);
    ASSERT_TRUE(store->put(sha256(text), text));
    request.digests.push_back(sha256(text));
  }
  const auto messages = read_all(*store, request);
  ASSERT_GT(messages.size(), 3u);
  std::map<Digest, std::string> got;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(messages[i].last, i + 1 == messages.size());
    for (const BlobPiece& piece : messages[i].pieces) {
      EXPECT_EQ(got[piece.digest].size(), piece.offset);
      got[piece.digest] += *snapshot::raw_of(piece);
    }
  }
  EXPECT_EQ(got.size(), 9'001u);
  EXPECT_EQ(got[sha256(large)], large);
  EXPECT_EQ(messages[0].absent.size() + messages[1].absent.size() + messages[2].absent.size() +
                messages[3].absent.size(),
            1u);
}

TEST(BlobService, APartHoldsWholePiecesUpToTheLimit) {
  TempDir dir;
  const auto store = *BlobStore::open(dir / "blobs");
  const std::string raw(5 << 20, 'x');
  ASSERT_TRUE(store->put(sha256(raw), raw));
  const auto messages = read_all(*store, {{sha256(raw)}, 1 << 20, (2 << 20) - 1});
  ASSERT_EQ(messages.size(), 1u);
  ASSERT_EQ(messages[0].pieces.size(), 2u);
  EXPECT_EQ(messages[0].pieces[0].offset, 1u << 20);
  EXPECT_TRUE(messages[0].last);
}

TEST(BlobService, ARequestThatMakesNoSenseIsRefused) {
  TempDir dir;
  const auto store = *BlobStore::open(dir / "blobs");
  ASSERT_TRUE(store->put(sha256("x"), "x"));
  BlobReader reader(*store, {{sha256("x")}, 4 << 20, 0});
  EXPECT_TRUE(std::holds_alternative<BulkRefused>(*reader.next()));
  EXPECT_FALSE(reader.next());
  const auto refused = answer(*store, PutBlobs{{{sha256("y"), 1, 0, false, "x"}}}, "peer");
  EXPECT_TRUE(std::holds_alternative<BulkRefused>(refused));
  EXPECT_TRUE(read_all(*store, {{}, 0, 0}).back().last);
}

TEST(BlobService, AFullDiskRefusesForNowAndADamagedOneForGood) {
  EXPECT_TRUE(refusal(errno_error(ENOSPC, "write")).for_now);
  EXPECT_TRUE(refusal(errno_error(EDQUOT, "write")).for_now);
  EXPECT_FALSE(refusal(errno_error(EIO, "write")).for_now);
  EXPECT_FALSE(refusal(make_error(ErrorCode::corrupt, "digest")).for_now);
}

// An output was given up when the launcher's disk had an error, or was read-only for a while.
TEST(BlobService, WhatIsSentIsRefusedForGoodOnlyIfTheSenderIsWrong) {
  for (const int error : {ENOSPC, EDQUOT, EIO, EROFS, ESTALE, EMFILE, EACCES, ENOENT}) {
    for (const Error& failed : {errno_error(error, "write"), io::file_error(error, "open", "x")}) {
      const BulkRefused refused = not_stored(failed);
      EXPECT_TRUE(refused.for_now && refused.no_space) << failed.message;
      EXPECT_EQ(error_of(refused).code, ErrorCode::resource_exhausted) << failed.message;
      EXPECT_NE(error_of(refused).message.find(failed.message), std::string::npos);
    }
  }
  for (const auto code :
       {ErrorCode::corrupt, ErrorCode::invalid_argument, ErrorCode::unsupported}) {
    const BulkRefused refused = not_stored(make_error(code, "wrong"));
    EXPECT_FALSE(refused.for_now || refused.no_space);
    EXPECT_EQ(error_of(refused).code, ErrorCode::conflict);
  }
}

TEST(BlobService, ADiskThatFailsIsToldToWhoeverSendsAndToWhoeverAsks) {
  TempDir dir;
  const auto store = *BlobStore::open(dir / "blobs");
  ASSERT_TRUE(store->put(sha256("x"), "x"));
  test::DiskFaults broken({"broken",
                           EIO,
                           true,
                           true,
                           {io::disk::Call::write, io::disk::Call::sync, io::disk::Call::resize}},
                          1);
  const io::disk::InFront in_front(broken);
  const auto asked = answer(*store, MissingBlobs{{sha256("x")}});
  const auto sent = answer(*store, PutBlobs{{{sha256("y"), 1, 0, false, "y"}}}, "peer");
  for (const BulkMessage& answered : {sent, asked}) {
    const auto* refused = std::get_if<BulkRefused>(&answered);
    ASSERT_NE(refused, nullptr);
    EXPECT_TRUE(refused->for_now && refused->no_space);
    EXPECT_NE(refused->message.find("Input/output error"), std::string::npos) << refused->message;
  }
}

TEST(BlobService, ABlobLargerThanAnyIsTheSendersMistake) {
  TempDir dir;
  const auto store = *BlobStore::open(dir / "blobs");
  const std::string piece(kMaxPieceBytes, 'x');
  const auto refused =
      answer(*store, PutBlobs{{{sha256("x"), 1ull << 60, 0, false, piece}}}, "peer");
  EXPECT_FALSE(std::get<BulkRefused>(refused).for_now);
}

TEST(BlobService, WhatFindsNoSpaceIsRefusedAsThat) {
  TempDir dir;
  const auto store = *BlobStore::open(dir / "blobs");
  const PutBlobs put{{{sha256("x"), 1, 0, false, "x"}}};
  test::DiskFaults full({"full", ENOSPC, true, true, test::growing_calls()}, 1);
  const auto refused = [&] {
    const io::disk::InFront in_front(full);
    return answer(*store, put, "peer");
  }();
  ASSERT_TRUE(std::holds_alternative<BulkRefused>(refused));
  EXPECT_TRUE(std::get<BulkRefused>(refused).no_space);
  EXPECT_TRUE(std::get<BulkRefused>(refused).for_now);
  EXPECT_TRUE(std::holds_alternative<PutBlobsReply>(answer(*store, put, "peer")));
  const auto wrong = answer(*store, PutBlobs{{{sha256("y"), 1, 0, false, "x"}}}, "peer");
  EXPECT_FALSE(std::get<BulkRefused>(wrong).no_space);
}

PutBlobs put_of(const std::string& text) {
  return {{snapshot::make_piece(sha256(text), text.size(), 0, text)}};
}

TEST(BlobService, OneSyncAnswersManyPuts) {
  TempDir dir;
  const auto store = *BlobStore::open(dir / "blobs");
  PutAnswer one = put(*store, put_of("one"), "a"), other = put(*store, put_of("other"), "b");
  make_durable(*store, {&one, &other});
  EXPECT_EQ(std::get<PutBlobsReply>(one.reply).accepted_bytes, 3u);
  EXPECT_EQ(std::get<PutBlobsReply>(other.reply).accepted_bytes, 5u);
  EXPECT_TRUE(store->missing({sha256("one"), sha256("other")})->empty());
}

// The kernel says once that it dropped bytes, to whoever asks first.
TEST(BlobService, WhatAnothersFailedSyncTookAlongIsNotAnswered) {
  TempDir dir;
  const auto store = *BlobStore::open(dir / "blobs");
  ASSERT_TRUE(store->put(sha256("before"), "before"));
  ASSERT_TRUE(store->sync());
  PutAnswer one = put(*store, put_of("one"), "a");
  {
    test::DiskFaults faults(test::all_disk_weather()[3], 1);
    const io::disk::InFront front(faults);
    ASSERT_FALSE(store->sync());
  }
  PutAnswer later = put(*store, put_of("later"), "a");
  make_durable(*store, {&one, &later});
  ASSERT_TRUE(std::holds_alternative<BulkRefused>(one.reply));
  EXPECT_TRUE(std::get<BulkRefused>(one.reply).for_now);
  EXPECT_TRUE(std::holds_alternative<PutBlobsReply>(later.reply));
  EXPECT_EQ(*store->missing({sha256("before"), sha256("one"), sha256("later")}),
            std::vector<Digest>{sha256("one")});
}

}  // namespace
}  // namespace lockstep::transfer
