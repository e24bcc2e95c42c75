#include "common/transfer/peer_server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "common/wire/messages/bulk.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::transfer {
namespace {

using snapshot::BlobStore;
using snapshot::TempDir;
using Link = io::ClientSocket::Link;

constexpr std::size_t kBlob = 64u << 20;  // more than all queues and buffers take

struct Asker {
  Asker(const PeerServer& server, const PublicKey& server_key)
      : socket(*io::ClientSocket::connect(transport, server.endpoint(), server_key, keys,
                                          {.high_water_mark = 2})) {}
  void send(BulkMessage body) {
    const Status sent = socket.send_within(
        wire::encode(BulkEnvelope{1, ++sequence, 0, std::move(body)}), seconds(5));
    ASSERT_TRUE(sent) << sent.error().message;
  }
  std::optional<BulkMessage> receive(Duration within = seconds(10)) {
    const auto until = std::chrono::steady_clock::now() + within;
    while (std::chrono::steady_clock::now() < until) {
      if (auto bytes = socket.receive()) return wire::decode_bulk(*bytes)->body;
      std::this_thread::yield();
    }
    return std::nullopt;
  }

  io::EventLoop loop;
  io::Transport transport{loop, [](auto&, auto&) { return false; }};
  io::KeyPair keys = io::generate_key_pair();
  std::uint64_t sequence = 0;
  io::ClientSocket socket;
};

struct Serving : ::testing::Test {
  Serving() {
    std::string text(kBlob, '\0');
    std::uint64_t x = 1;
    for (auto& byte : text) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<char>(x >> 56);
    }
    blob = sha256(text);
    EXPECT_TRUE(store->put(blob, text));
  }
  void start(PeerServerLimits limits) {
    auto started = PeerServer::start("tcp://127.0.0.1:*", keys, *store, fetch_progress, limits);
    ASSERT_TRUE(started) << started.error().message;
    server = *std::move(started);
  }
  std::unique_ptr<Asker> friend_of() {
    auto made = std::make_unique<Asker>(*server, keys.public_key);
    server->allow({made->keys.public_key}, blob);
    return made;
  }
  bool is_refused_for_now(Asker& asker) {
    asker.send(GetBlobs{{blob}, 0, 1 << 20, false, blob});
    const auto answer = asker.receive();
    EXPECT_TRUE(answer) << "no answer";
    const auto* refused = answer ? std::get_if<BulkRefused>(&*answer) : nullptr;
    return refused != nullptr && refused->for_now;
  }

  TempDir dir;
  io::KeyPair keys = io::generate_key_pair();
  std::unique_ptr<BlobStore> store = *BlobStore::open(dir / "blobs");
  FetchProgress fetch_progress;
  Digest blob;
  std::unique_ptr<PeerServer> server;
};

TEST_F(Serving, AStrangersKeyIsRefusedUntilTheLauncherNamesIt) {
  start({});
  Asker stranger(*server, keys.public_key);
  const std::string message =
      wire::encode(BulkEnvelope{1, 1, 0, GetBlobs{{blob}, 0, 1 << 20, false, blob}});
  const Status sent = stranger.socket.send_within(message, seconds(5));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::permission_denied);
  server->allow({stranger.keys.public_key}, blob);
  const auto until = std::chrono::steady_clock::now() + seconds(10);
  while (!stranger.socket.send_within(message, seconds(1)))
    ASSERT_LT(std::chrono::steady_clock::now(), until);
  EXPECT_TRUE(std::holds_alternative<BlobData>(*stranger.receive()));
}

TEST_F(Serving, AKeyThatWasNotNamedAgainLosesItsPlaceThoughItIsConnected) {
  PeerServerLimits limits;
  limits.allowed_for = milliseconds(300);
  start(limits);
  const auto asker = friend_of();
  for (;;) {  // it is let in first
    asker->send(AskUnits{blob});
    const auto answer = asker->receive();
    ASSERT_TRUE(answer);
    if (std::holds_alternative<BulkRefused>(*answer)) break;
    EXPECT_FALSE(std::get<UnitsReply>(*answer).fetching);
  }
}

// It is connected, let in, and in the middle of a blob.
TEST_F(Serving, AKeyThatWasRevokedIsSentNothingMore) {
  start({});
  const auto asker = friend_of();
  asker->send(GetBlobs{{blob}, 0, 0, false, blob});
  ASSERT_TRUE(std::holds_alternative<BlobData>(*asker->receive()));
  server->forbid({asker->keys.public_key});
  std::size_t got = 0;
  while (const auto more = asker->receive(seconds(1))) {
    if (std::holds_alternative<BulkRefused>(*more)) break;
    const auto* data = std::get_if<BlobData>(&*more);
    ASSERT_TRUE(data != nullptr);
    EXPECT_FALSE(data->last) << "all of it came";
    for (const BlobPiece& piece : data->pieces) got += piece.data.size();
  }
  EXPECT_LT(got, kBlob) << "what its queue held, and no more";
  asker->send(AskUnits{sha256("no tree")});
  EXPECT_TRUE(std::holds_alternative<BulkRefused>(*asker->receive()));
}

TEST_F(Serving, BeyondTheCapAskersAreRefusedForNowUntilOneIsDone) {
  PeerServerLimits limits;
  limits.askers = 2;
  start(limits);
  const auto one = friend_of(), two = friend_of(), three = friend_of();
  for (auto* asker : {one.get(), two.get()}) {
    asker->send(GetBlobs{{blob}, 0, 0, false, blob});
    ASSERT_TRUE(std::holds_alternative<BlobData>(*asker->receive()));
  }
  EXPECT_TRUE(is_refused_for_now(*three));
  for (bool last = false; !last;) {
    const auto answer = one->receive();
    ASSERT_TRUE(answer);
    last = std::get<BlobData>(*answer).last;
  }
  while (is_refused_for_now(*three)) {
  }
}

TEST_F(Serving, WhoHasHadItsTurnMakesRoomForOneThatWasRefused) {
  PeerServerLimits limits;
  limits.askers = 1;
  limits.turn_bytes = 4u << 20;
  start(limits);
  const auto greedy = friend_of(), waiting = friend_of();
  const auto until = std::chrono::steady_clock::now() + seconds(30);
  greedy->send(GetBlobs{{blob}, 0, 0, false, blob});
  greedy->send(
      GetBlobs{{blob}, 0, 0, false, blob});  // the next is always asked for before one is done
  ASSERT_TRUE(std::holds_alternative<BlobData>(*greedy->receive()));
  EXPECT_TRUE(is_refused_for_now(*waiting));
  while (is_refused_for_now(*waiting)) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    while (auto bytes = greedy->socket.receive()) {
      const auto body = wire::decode_bulk(*bytes)->body;
      const auto* data = std::get_if<BlobData>(&body);
      if (data != nullptr && data->last) greedy->send(GetBlobs{{blob}, 0, 0, false, blob});
    }
  }
}

TEST_F(Serving, OneAskerHasOnlySoManyRequestsOpen) {
  PeerServerLimits limits;
  limits.requests = 2;
  start(limits);
  const auto asker = friend_of();
  for (int i = 0; i < 3; ++i) asker->send(GetBlobs{{blob}, 0, 0, false, blob});
  for (;;) {
    const auto answer = asker->receive();
    ASSERT_TRUE(answer);
    if (std::holds_alternative<BulkRefused>(*answer)) break;
  }
}

TEST_F(Serving, AKeyGetsOnlyTheTreesForWhichItWasNamedAndOnlyWhatIsBelowThem) {
  start({});
  const std::string foreign = "somebody else's";
  ASSERT_TRUE(store->put(sha256(foreign), foreign));
  const auto asker = friend_of();
  const auto is_refused = [&](const BulkMessage& request) {
    asker->send(request);
    const auto answer = asker->receive();
    const auto* refused = answer ? std::get_if<BulkRefused>(&*answer) : nullptr;
    return refused != nullptr && !refused->for_now;
  };
  EXPECT_TRUE(is_refused(GetBlobs{{sha256(foreign)}, 0, 0, false, sha256(foreign)}));
  EXPECT_TRUE(is_refused(GetBlobs{{sha256(foreign)}, 0, 0, false, blob}));
  EXPECT_TRUE(is_refused(GetBlobs{{blob}, 0, 0}));
  EXPECT_TRUE(is_refused(AskUnits{sha256(foreign)}));
}

TEST_F(Serving, WhatIsWithdrawnEndsInMidStream) {
  start({});
  const auto asker = friend_of();
  asker->send(GetBlobs{{blob}, 0, 0, false, blob});
  ASSERT_TRUE(std::holds_alternative<BlobData>(*asker->receive()));
  server->withdraw({asker->keys.public_key}, blob);
  const auto withdrawn = std::chrono::steady_clock::now();
  for (;;) {
    const auto answer = asker->receive();
    ASSERT_TRUE(answer);
    if (std::holds_alternative<BulkRefused>(*answer)) break;
    ASSERT_FALSE(std::get<BlobData>(*answer).last);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - withdrawn, seconds(2));
}

}  // namespace
}  // namespace lockstep::transfer
