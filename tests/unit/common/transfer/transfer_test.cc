#include "common/transfer/transfer.h"
#include "common/transfer/request_window.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "tests/unit/common/snapshot/trees.h"
#include "tests/unit/common/transfer/blob_server.h"
#include "tests/unit/support/noise.h"

namespace lockstep::transfer {
namespace {

using snapshot::BlobStore;
using snapshot::TempDir;
using test::noise;
using Fate = BlobServer::Fate;

Fate always(unsigned) { return Fate::pass; }

struct Fixture {
  explicit Fixture(BlobServer::Wire wire = always)
      : server("tcp://127.0.0.1:*", *launcher, std::move(wire)) {}

  io::ClientSocket connect() {
    return *io::ClientSocket::connect(transport, server.endpoint(), server.keys().public_key, keys);
  }

  TempDir dir;
  std::unique_ptr<BlobStore> launcher = *BlobStore::open(dir / "launcher");
  std::unique_ptr<BlobStore> node = *BlobStore::open(dir / "node");
  BlobServer server;
  io::EventLoop loop;
  io::Transport transport{loop, [](auto&, auto&) { return true; }};
  io::KeyPair keys = io::generate_key_pair();
};

void fill(const TempDir& tree, int small_files) {
  for (int i = 0; i < small_files; ++i) {
    tree.file("d" + std::to_string(i % 37) + "/f" + std::to_string(i), "file " + std::to_string(i));
  }
  tree.file("empty", "");
  tree.file("same1", "the same");
  tree.file("same2", "the same");
  tree.file("medium", noise(300'000, 1));
  tree.file("large", noise(9 << 20, 2) + std::string(5 << 20, 'z'));
  tree.folder("nothing/in/here");
  tree.link("large", "link");
}

TransferOptions with_short_limits() {
  TransferOptions options;
  options.retry_after = milliseconds(150);
  options.give_up_after = seconds(30);
  return options;
}

void expect_same_tree(const TempDir& source, const Fixture& f, const Digest& root) {
  const Status written = snapshot::materialize(*f.node, root, f.dir / "out");
  ASSERT_TRUE(written) << written.error().message;
  const auto again = snapshot::capture(f.dir / "out", {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->root, root);
  EXPECT_EQ(again->files.size(), snapshot::capture(source.path(), {})->files.size());
}

TEST(Transfer, UploadThenDownloadOfFiveThousandFiles) {
  Fixture f;
  TempDir source;
  fill(source, 5'000);
  const auto captured = snapshot::capture(source.path(), {});
  ASSERT_TRUE(captured);
  auto cli = f.connect();
  Progress last;
  const auto uploaded =
      upload_snapshot(cli, *captured, [&](const Progress& progress) { last = progress; });
  ASSERT_TRUE(uploaded) << uploaded.error().message;
  EXPECT_GT(uploaded->bytes_sent, 14u << 20);
  EXPECT_LT(uploaded->wire_bytes, 11u << 20);
  EXPECT_EQ(last.done_bytes, last.total_bytes);
  EXPECT_TRUE(f.launcher->missing_from(captured->root)->empty());
  // Small files travel together.
  EXPECT_LT(f.server.messages(), 60u);

  const auto nothing = upload_snapshot(cli, *captured);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->blobs_sent, 0u);

  auto agent = f.connect();
  const Status downloaded = download_tree(agent, captured->root, *f.node,
                                          [&](const Progress& progress) { last = progress; });
  ASSERT_TRUE(downloaded) << downloaded.error().message;
  EXPECT_EQ(last.done_bytes, last.total_bytes);
  expect_same_tree(source, f, captured->root);
}

TEST(Transfer, TheProgressOfASparseFileMoves) {
  Fixture f;
  TempDir source;
  source.file("sparse", "");
  constexpr std::uint64_t kSize = 100u << 20;
  std::filesystem::resize_file(source / "sparse", kSize);
  const auto captured = snapshot::capture(source.path(), {});
  ASSERT_TRUE(captured);
  auto cli = f.connect();
  std::vector<std::uint64_t> steps;
  const auto uploaded = upload_snapshot(
      cli, *captured, [&](const Progress& progress) { steps.push_back(progress.done_bytes); });
  ASSERT_TRUE(uploaded) << uploaded.error().message;
  EXPECT_GE(steps.size(), 5u);
  for (std::size_t i = 1; i < steps.size(); ++i)
    EXPECT_LE(steps[i] - steps[i - 1], kSize / 4) << "step " << i;
}

class LossyWire : public ::testing::TestWithParam<unsigned> {};

TEST_P(LossyWire, EverythingArrivesWhole) {
  std::mt19937 random(GetParam());
  Fixture f([&](unsigned) {
    const unsigned dice = random() % 10;
    return dice < 2 ? Fate::lose : dice < 4 ? Fate::twice : Fate::pass;
  });
  TempDir source;
  fill(source, 300);
  const auto captured = snapshot::capture(source.path(), {});
  ASSERT_TRUE(captured);
  auto cli = f.connect();
  const auto uploaded = upload_snapshot(cli, *captured, {}, with_short_limits());
  ASSERT_TRUE(uploaded) << uploaded.error().message;
  EXPECT_TRUE(f.launcher->missing_from(captured->root)->empty());
  auto agent = f.connect();
  const Status downloaded = download_tree(agent, captured->root, *f.node, {}, with_short_limits());
  ASSERT_TRUE(downloaded) << downloaded.error().message;
  expect_same_tree(source, f, captured->root);
}
INSTANTIATE_TEST_SUITE_P(Seeds, LossyWire, ::testing::Range(1u, 4u));

TEST(Transfer, AFileChangedAfterTheCaptureIsNamed) {
  Fixture f;
  TempDir source;
  source.file("a", "first");
  source.file("sub/b", noise(3 << 20, 5));
  for (const char* changed : {"a", "sub/b"}) {
    const auto captured = snapshot::capture(source.path(), {});
    ASSERT_TRUE(captured);
    std::string content = source.read(changed);
    content.back() = static_cast<char>(content.back() + 1);
    source.file(changed, content);
    auto cli = f.connect();
    const auto uploaded = upload_snapshot(cli, *captured);
    ASSERT_FALSE(uploaded);
    EXPECT_EQ(uploaded.error().code, ErrorCode::conflict);
    EXPECT_NE(uploaded.error().message.find(std::string(changed) + " changed after"),
              std::string::npos)
        << uploaded.error().message;
    EXPECT_FALSE(f.launcher->missing_from(captured->root)->empty());
  }
}

TEST(Transfer, WhatTheLauncherLacksIsNamed) {
  Fixture f;
  auto agent = f.connect();
  const Status downloaded =
      download_tree(agent, sha256("nothing"), *f.node, {}, with_short_limits());
  ASSERT_FALSE(downloaded);
  EXPECT_EQ(downloaded.error().code, ErrorCode::not_found);
  EXPECT_NE(downloaded.error().message.find(sha256("nothing").hex()), std::string::npos);
}

TEST(Transfer, ABlobThatIsDamagedThereIsNamedWithTheRemedy) {
  Fixture f;
  TempDir source;
  source.file("a", "small");
  auto cli = f.connect();
  const auto captured = snapshot::capture(source.path(), {});
  ASSERT_TRUE(upload_snapshot(cli, *captured));
  f.server.change = [](BlobData& data) {
    for (BlobPiece& piece : data.pieces)
      if (piece.total_size == 5) piece.data = "SMALL";
  };
  auto agent = f.connect();
  const Status downloaded = download_tree(agent, captured->root, *f.node, {}, with_short_limits());
  ASSERT_FALSE(downloaded);
  EXPECT_EQ(downloaded.error().code, ErrorCode::corrupt);
  EXPECT_NE(downloaded.error().message.find("the launcher's copy of blob " + sha256("small").hex() +
                                            " is damaged; send the same"),
            std::string::npos)
      << downloaded.error().message;
}

TEST(Transfer, ADeafLauncherIsGivenUp) {
  Fixture f([](unsigned) { return Fate::lose; });
  TempDir source;
  source.file("a", "a");
  auto cli = f.connect();
  TransferOptions options;
  options.retry_after = milliseconds(50);
  options.give_up_after = milliseconds(400);
  const auto uploaded = upload_snapshot(cli, *snapshot::capture(source.path(), {}), {}, options);
  ASSERT_FALSE(uploaded);
  EXPECT_EQ(uploaded.error().code, ErrorCode::unavailable);
  EXPECT_GT(f.server.messages(), 2u);
}

TransferOptions that_see_a_lost_link() {
  TransferOptions options;
  options.retry_after = milliseconds(100);
  options.down_after = seconds(2);
  return options;
}

// It was silent for a minute after the launcher was killed.
TEST(Transfer, ALauncherThatWentAwayIsNamedSoon) {
  std::atomic<bool> was_asked = false;
  Fixture f([&](unsigned) {
    was_asked = true;
    was_asked.notify_all();
    return Fate::lose;
  });
  TempDir source;
  source.file("large", noise(40 << 20, 7));
  const auto tree = *snapshot::capture(source.path(), {});
  auto cli = f.connect();
  std::thread killer([&] {
    was_asked.wait(false);
    f.server.stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto uploaded = upload_snapshot(cli, tree, {}, that_see_a_lost_link());
  killer.join();
  ASSERT_FALSE(uploaded);
  EXPECT_EQ(uploaded.error().code, ErrorCode::unavailable);
  EXPECT_EQ(uploaded.error().message,
            "the launcher at " + f.server.endpoint() +
                " went away: there has been no connection to it for 2.0s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30))
      << "give_up_after is a minute";
}

TEST(Transfer, ALauncherThatStartsAgainInTimeGetsTheRest) {
  Fixture f;
  TempDir source;
  source.file("a", noise(40 << 20, 8));
  const auto tree = *snapshot::capture(source.path(), {});
  auto cli = f.connect();
  auto options = that_see_a_lost_link();
  options.down_after = seconds(20);
  bool was_restarted = false;
  const auto restart_once = [&](const Progress& progress) {
    if (progress.done_bytes > 0 && !std::exchange(was_restarted, true)) f.server.restart();
  };
  const auto uploaded = upload_snapshot(cli, tree, restart_once, options);
  ASSERT_TRUE(uploaded) << uploaded.error().message;
  EXPECT_TRUE(was_restarted);
  EXPECT_TRUE(f.launcher->missing_from(tree.root)->empty());
}

// A stopped program keeps its connections: it is waited for as long as before.
TEST(Transfer, ALauncherThatIsOnlySilentDidNotGoAway) {
  Fixture f([](unsigned) { return Fate::lose; });
  TempDir source;
  source.file("a", "a");
  auto cli = f.connect();
  TransferOptions options = that_see_a_lost_link();
  options.down_after = milliseconds(300);
  options.give_up_after = seconds(3);
  const auto uploaded = upload_snapshot(cli, *snapshot::capture(source.path(), {}), {}, options);
  ASSERT_FALSE(uploaded);
  EXPECT_EQ(uploaded.error().message, "the launcher did not answer for 3.0s");
}

// It was repeated until the launcher was given up for silent.
TEST(Transfer, ARequestThatTheLauncherCannotReadFailsAtOnce) {
  Fixture f;
  auto agent = f.connect();
  RequestWindow window(agent, {});
  MissingBlobs question;
  question.digests.resize(kMaxDigestsPerRequest + 1);
  // The answer may be there when request() looks for one.
  Status answered = window.request(question, 1, [](BulkMessage&) -> Result<bool> { return true; });
  if (answered) answered = window.drain();
  ASSERT_FALSE(answered);
  EXPECT_NE(answered.error().message.find("at most 20000"), std::string::npos)
      << answered.error().message;
}

// The outputs of a job were once given up when the launcher's disk was full for a moment.
TEST(Transfer, ALauncherWhoseDiskIsFullSaysSoAndTakesItLater) {
  Fixture f;
  TempDir source;
  source.file("a", "a");
  const auto tree = *snapshot::capture(source.path(), {});
  f.server.fill_disk(true);
  auto agent = f.connect();
  const auto refused = upload_snapshot(agent, tree, {}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
  EXPECT_NE(refused.error().message.find("No space left"), std::string::npos);
  f.server.fill_disk(false);
  auto again = f.connect();
  EXPECT_TRUE(upload_snapshot(again, tree, {}, {}));
}

// A user's third upload at a time failed: the other two had in flight what one user may.
TEST(Transfer, ALauncherThatIsBusyIsSentTheSameAgain) {
  Fixture f;
  std::map<std::uint64_t, int> tries;
  f.server.refusal = [&](const BulkEnvelope& request) -> std::optional<BulkRefused> {
    if (++tries[request.sequence] > static_cast<int>(request.sequence % 3)) return std::nullopt;
    return BulkRefused{"the limit of one user is reached; send more when some are done", true};
  };
  TempDir source;
  fill(source, 500);
  auto cli = f.connect();
  const auto captured = *snapshot::capture(source.path(), {});
  const auto uploaded = upload_snapshot(cli, captured);
  ASSERT_TRUE(uploaded) << uploaded.error().message;
  EXPECT_TRUE(f.launcher->missing_from(captured.root)->empty());
  auto agent = f.connect();
  const Status downloaded = download_tree(agent, captured.root, *f.node);
  ASSERT_TRUE(downloaded) << downloaded.error().message;
}

TEST(Transfer, ALauncherThatIsBusyAllTheTimeIsGivenUpWithItsWords) {
  Fixture f;
  f.server.refusal = [](const BulkEnvelope&) { return BulkRefused{"too much at once", true}; };
  TempDir source;
  source.file("a", "a");
  auto cli = f.connect();
  TransferOptions options;
  options.give_up_after = milliseconds(700);
  const auto begin = std::chrono::steady_clock::now();
  const auto uploaded = upload_snapshot(cli, *snapshot::capture(source.path(), {}), {}, options);
  ASSERT_FALSE(uploaded);
  EXPECT_EQ(uploaded.error().code, ErrorCode::unavailable);
  EXPECT_EQ(uploaded.error().message,
            "the launcher refused: too much at once (at each try for 700ms)");
  EXPECT_GT(f.server.messages(), 6u);
  EXPECT_LT(f.server.messages(), 40u) << "with pauses that grow";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Transfer, BlobsOfUnknownSizeComeInParts) {
  Fixture f;
  const std::string large = noise(19 << 20, 9), small = "small";
  ASSERT_TRUE(f.launcher->put(sha256(large), large));
  ASSERT_TRUE(f.launcher->put(sha256(small), small));
  auto agent = f.connect();
  const std::vector<snapshot::BlobWanted> wanted{
      {sha256(large), 0, true}, {sha256(small), 0, true}, {sha256(large), 0, true}};
  const Status downloaded = download(agent, sha256("root"), wanted, *f.node);
  ASSERT_TRUE(downloaded) << downloaded.error().message;
  EXPECT_EQ(*f.node->get(sha256(large)), large);
  EXPECT_EQ(*f.node->get(sha256(small)), small);
}

}  // namespace
}  // namespace lockstep::transfer
