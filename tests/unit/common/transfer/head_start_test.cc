// A capture with an upload beside it, against a launcher's blob store behind a wire that loses,
// doubles and refuses.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "common/transfer/head_start.h"
#include "tests/unit/common/snapshot/trees.h"
#include "tests/unit/common/transfer/blob_server.h"
#include "tests/unit/support/noise.h"

namespace lockstep::transfer {
namespace {

using snapshot::BlobStore;
using snapshot::TempDir;
using test::noise;
using Fate = BlobServer::Fate;

struct Fixture {
  explicit Fixture(BlobServer::Wire wire = [](unsigned) { return Fate::pass; })
      : server("tcp://127.0.0.1:*", *launcher, std::move(wire)) {}

  io::ClientSocket connect() {
    return *io::ClientSocket::connect(transport, server.endpoint(), server.keys().public_key, keys);
  }
  bool has_all(const snapshot::Snapshot& tree) {
    return launcher->missing_from(tree.root)->empty();
  }

  TempDir dir, source;
  std::unique_ptr<BlobStore> launcher = *BlobStore::open(dir / "launcher");
  BlobServer server;
  io::EventLoop loop;
  io::Transport transport{loop, [](auto&, auto&) { return true; }};
  io::KeyPair keys = io::generate_key_pair();
};

void fill(const TempDir& tree, int files, std::size_t size) {
  for (int i = 0; i < files; ++i)
    tree.file("d" + std::to_string(i % 11) + "/f" + std::to_string(i),
              noise(size, static_cast<unsigned>(i)));
  tree.file("empty", "");
  tree.file("same1", noise(size, 1));
  tree.file("medium", noise(300'000, 1'000));
  tree.file("large", noise(3 << 20, 1'001));
}

TransferOptions with_short_limits() {
  TransferOptions options;
  options.retry_after = milliseconds(150);
  options.give_up_after = seconds(30);
  return options;
}

// Holds the reading when `files` were read until the launcher was asked a second question, so that
// the answer to the first has arrived. A head start whose first answer comes after the last file
// sends nothing.
std::function<void(const std::string&)> until_second_question(const BlobServer& server,
                                                              unsigned files) {
  return [&server, files, read = std::make_shared<std::atomic<unsigned>>(0)](const std::string&) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    if (++*read < files) return;
    while (server.messages() < 3 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
}

TEST(HeadStart, WhatWasReadIsThereBeforeTheUpload) {
  Fixture f;
  fill(f.source, 2'000, 5'000);
  auto cli = f.connect();
  Progress last;
  snapshot::CaptureOptions capture;
  capture.on_read = until_second_question(f.server, 1'500);
  const auto captured = capture_and_send(cli, f.source.path(), capture,
                                         [&](const Progress& progress) { last = progress; });
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->snapshot.root, snapshot::capture(f.source.path(), {})->root);
  EXPECT_EQ(captured->durable_bytes, 2'000u * 5'000 + 300'000 + (3u << 20));
  EXPECT_EQ(last.done_bytes, last.total_bytes);
  EXPECT_EQ(last.done_bytes, captured->durable_bytes);
  // Each content once, and none that is empty.
  const auto rest = upload_snapshot(cli, captured->snapshot);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->blobs_sent, captured->snapshot.directories.size() + 1);
  EXPECT_TRUE(f.has_all(captured->snapshot));
  EXPECT_LT(f.server.messages(), 80u);
}

// While the launcher is slow to answer the first question, more files are read than one message may
// name.
TEST(HeadStart, FilesReadDuringTheFirstQuestionAreAskedAboutInSeveral) {
  constexpr unsigned kFiles = 21'000, kReadMeanwhile = kFiles - 200;
  static_assert(kReadMeanwhile > kMaxDigestsPerRequest);
  std::atomic<unsigned> read{0};
  Fixture f([&](unsigned n) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (n == 0 && read < kReadMeanwhile && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    return Fate::pass;
  });
  for (unsigned i = 0; i < kFiles; ++i)
    f.source.file("d" + std::to_string(i % 100) + "/" + std::to_string(i),
                  "file " + std::to_string(i));
  snapshot::CaptureOptions capture;
  capture.on_read = [&, hold = until_second_question(f.server, kFiles - 100)](const auto& path) {
    ++read;
    hold(path);
  };
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), capture);
  ASSERT_TRUE(captured) << captured.error().message;
  ASSERT_EQ(read, kFiles);
  std::uint64_t bytes = 0;
  for (const auto& file : captured->snapshot.files) bytes += file.size;
  EXPECT_EQ(captured->durable_bytes, bytes);
}

class LossyHeadStart : public ::testing::TestWithParam<unsigned> {};

TEST_P(LossyHeadStart, EverythingArrivesWhole) {
  std::mt19937 random(GetParam());
  Fixture f([&](unsigned) {
    const unsigned dice = random() % 10;
    return dice < 2 ? Fate::lose : dice < 4 ? Fate::twice : Fate::pass;
  });
  fill(f.source, 300, 5'000);
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), {}, {}, with_short_limits());
  ASSERT_TRUE(captured) << captured.error().message;
  const auto rest = upload_snapshot(cli, captured->snapshot, {}, with_short_limits());
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_TRUE(f.has_all(captured->snapshot));
}
INSTANTIATE_TEST_SUITE_P(Seeds, LossyHeadStart, ::testing::Range(1u, 4u));

TEST(HeadStart, LittleMemoryIsEnough) {
  Fixture f;
  fill(f.source, 500, 20'000);
  TransferOptions options;
  options.held_bytes = 100'000;
  options.window_bytes = 1u << 20;
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), {}, {}, options);
  ASSERT_TRUE(captured) << captured.error().message;
  const auto rest = upload_snapshot(cli, captured->snapshot);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_GE(rest->bytes_sent, 3u << 20) << "large files are read again";
  EXPECT_TRUE(f.has_all(captured->snapshot));
}

TEST(HeadStart, ASmallTreeIsLeftToTheUpload) {
  Fixture f;
  f.source.file("a", "a");
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), {});
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->durable_bytes, 0u);
  EXPECT_EQ(f.server.messages(), 0u);
}

TEST(HeadStart, HardlyAnythingIsAskedAboutATreeThatIsThere) {
  Fixture f;
  fill(f.source, 3'000, 500);
  auto first = f.connect();
  const auto tree = snapshot::capture(f.source.path(), {});
  ASSERT_TRUE(upload_snapshot(first, *tree));
  const unsigned before = f.server.messages();
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), {});
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->durable_bytes, 0u);
  EXPECT_LE(f.server.messages() - before, 6u) << "a probe, and one 16 times as many files later";
}

TEST(HeadStart, ATreeThatIsThereInPartIsCompleted) {
  Fixture f;
  fill(f.source, 1'000, 5'000);
  auto first = f.connect();
  ASSERT_TRUE(upload_snapshot(first, *snapshot::capture(f.source.path(), {})));
  for (int i = 0; i < 300; ++i)
    f.source.file("new/" + std::to_string(i), noise(20'000, 5'000u + static_cast<unsigned>(i)));
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), {});
  ASSERT_TRUE(captured) << captured.error().message;
  const auto rest = upload_snapshot(cli, captured->snapshot);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_GE(rest->bytes_sent + captured->durable_bytes, 6'000'000u);
  EXPECT_LT(rest->bytes_sent + captured->durable_bytes, 6'300'000u) << "nothing is sent twice";
  EXPECT_TRUE(f.has_all(captured->snapshot));
}

// So a submission of files that the stat cache knows needs no second connection.
TEST(HeadStart, DialsOnlyWhenThereIsSomethingToSend) {
  Fixture f;
  f.source.file("empty", "");
  int dialled = 0;
  auto cli = f.connect();
  const Dial dial = [&]() -> Result<io::ClientSocket*> {
    ++dialled;
    return &cli;
  };
  ASSERT_TRUE(capture_and_send(dial, f.source.path(), {}));
  EXPECT_EQ(dialled, 0);
  fill(f.source, 100, 50'000);
  // A capture that ends before the first answer leaves all to the upload.
  snapshot::CaptureOptions answered_meanwhile;
  answered_meanwhile.on_read = until_second_question(f.server, 95);
  const auto captured = capture_and_send(dial, f.source.path(), answered_meanwhile);
  ASSERT_TRUE(captured);
  EXPECT_EQ(dialled, 1);
  EXPECT_GT(captured->durable_bytes, 5'000'000u);
  const Dial nobody = []() -> Result<io::ClientSocket*> {
    return make_error(ErrorCode::unavailable, "nobody answers");
  };
  const auto failed = capture_and_send(nobody, f.source.path(), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "nobody answers");
}

// The bytes that leave are those that were hashed, whatever becomes of the file.
TEST(HeadStart, AFileThatChangesOnceIsSentAsTheSnapshotHasIt) {
  Fixture f;
  fill(f.source, 400, 5'000);
  std::mutex mutex;
  std::set<std::string> touched;
  snapshot::CaptureOptions capture;
  capture.on_read = [&](const std::string& path) {
    const std::lock_guard guard(mutex);
    if (path.starts_with("d3/") && touched.insert(path).second)
      std::ofstream(f.source / path, std::ios::app) << "more";
  };
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), capture);
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_GT(touched.size(), 10u);
  const auto rest = upload_snapshot(cli, captured->snapshot);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_TRUE(f.has_all(captured->snapshot));
  for (const auto& file : captured->snapshot.files)
    EXPECT_EQ(*f.launcher->get(file.digest), f.source.read(file.path)) << file.path;
}

TEST(HeadStart, AFileChangedAfterItLeftIsNoErrorAndOneThatDidNotLeaveIsNamed) {
  Fixture f;
  fill(f.source, 300, 5'000);
  TransferOptions options;
  options.held_bytes = 3u << 20;
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), {}, {}, options);
  ASSERT_TRUE(captured) << captured.error().message;
  f.source.file("d1/f1", "other");
  f.source.file("large", noise(3 << 20, 7));
  const auto rest = upload_snapshot(cli, captured->snapshot);
  ASSERT_FALSE(rest);
  EXPECT_EQ(rest.error().code, ErrorCode::conflict);
  EXPECT_NE(rest.error().message.find("large changed after"), std::string::npos)
      << rest.error().message;
}

TEST(HeadStart, ALauncherThatRefusesInMidwayCostsTheCaptureNothing) {
  Fixture f;
  fill(f.source, 2'000, 5'000);
  f.server.fill_disk(true);
  auto cli = f.connect();
  TransferOptions options;
  options.held_bytes = 1u << 20;
  const auto captured = capture_and_send(cli, f.source.path(), {}, {}, options);
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->durable_bytes, 0u);
  // The upload meets the same, and says it.
  const auto refused = upload_snapshot(cli, captured->snapshot);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("No space left"), std::string::npos);
  f.server.fill_disk(false);
  ASSERT_TRUE(upload_snapshot(cli, captured->snapshot));
  EXPECT_TRUE(f.has_all(captured->snapshot));
}

TEST(HeadStart, ALauncherThatIsSilentFromThenOnCostsItsTimeout) {
  Fixture f([](unsigned n) { return n < 6 ? Fate::pass : Fate::lose; });
  fill(f.source, 2'000, 5'000);
  TransferOptions options;
  options.held_bytes = 1u << 20;
  options.window_bytes = 1u << 20;
  options.retry_after = milliseconds(50);
  options.give_up_after = milliseconds(400);
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), {}, {}, options);
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->snapshot.root, snapshot::capture(f.source.path(), {})->root);
}

TEST(HeadStart, NobodyListensAndTheCaptureDoesNotWait) {
  Fixture f([](unsigned) { return Fate::lose; });
  fill(f.source, 2'000, 5'000);
  TransferOptions options;
  options.held_bytes = 1u << 20;
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), {}, {}, options);
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_EQ(captured->durable_bytes, 0u);
}

TEST(HeadStart, ACaptureThatFailsEndsTheSending) {
  Fixture f;
  fill(f.source, 500, 20'000);
  f.source.file("z/growing.log", "x");
  snapshot::CaptureOptions capture;
  capture.on_read = [&](const std::string& path) {
    if (path == "z/growing.log") std::ofstream(f.source / path, std::ios::app) << "x";
  };
  auto cli = f.connect();
  const auto captured = capture_and_send(cli, f.source.path(), capture);
  ASSERT_FALSE(captured);
  EXPECT_NE(captured.error().message.find("growing.log changed during each of "),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep::transfer
