#include "agent/daemon/links/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "common/wire/messages/control.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

TEST(IdentityTest, IsKeptPrivatelyAndReadBack) {
  const TempDir dir;
  const std::string path = dir / "identity.json";
  EXPECT_FALSE(load_identity(path).value().has_value());
  const Identity identity{NodeId(17), "n1", io::generate_key_pair().public_key, "tcp://a:1",
                          "tcp://a:2"};
  ASSERT_TRUE(save_identity(path, identity));
  EXPECT_EQ(load_identity(path).value(), identity);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  put(path, "{\"format\": 1, \"node\": \"x\"}");
  EXPECT_EQ(load_identity(path).error().code, ErrorCode::corrupt);
  put(path, "not json");
  EXPECT_EQ(load_identity(path).error().code, ErrorCode::corrupt);
}

TEST(IdentityTest, WhatAPersonSaysOfTheLauncherWinsOverWhatItTold) {
  const Endpoints told{"tcp://10.0.0.1:7070", "tcp://10.0.0.1:7071", "tcp://10.0.0.1:7072"};
  EXPECT_EQ(as_dialled(told, "").value(), told);
  const Endpoints nat{"tcp://gate:7070", "tcp://gate:7071", "tcp://gate:7072"};
  EXPECT_EQ(as_dialled(told, "tcp://gate:7070").value(), nat);
  EXPECT_EQ(as_dialled(told, "tcp://gate:7072").value(), nat) << "one of its own ports";
  const Endpoints forwarded{"tcp://gate:9000", "tcp://gate:9001", "tcp://gate:9002"};
  EXPECT_EQ(as_dialled(told, "tcp://gate:9000").value(), forwarded);
  const Endpoints v6{"tcp://[fe80::1]:7070", "tcp://[fe80::1]:7071", "tcp://[fe80::1]:7072"};
  EXPECT_EQ(as_dialled(told, "tcp://[fe80::1]:7070").value(), v6);
  const Endpoints later{"tcp://10.0.0.1:7070", "tcp://10.0.0.1:7071", ""};
  EXPECT_EQ(as_dialled(later, "tcp://gate:9000").value(),
            (Endpoints{"tcp://gate:9000", "tcp://gate:9001", ""}));
  const Endpoints nowhere{"tcp://0.0.0.0:5", "tcp://*:6", "tcp://127.0.0.1:7"};
  EXPECT_EQ(as_dialled(nowhere, "tcp://host:5").value(),
            (Endpoints{"tcp://host:5", "tcp://host:6", "tcp://host:7"}));
  for (const char* bad :
       {"host:7070", "tcp://host", "tcp://:7070", "tcp://host:x", "tcp://host:0", "tcp:// :7070",
        "tcp://me@gate:7070", "tcp://*:7070", "tcp://_gate:7070"}) {
    EXPECT_EQ(as_dialled(told, bad).error().code, ErrorCode::invalid_argument) << bad;
    EXPECT_EQ(address_after(bad).error().code, ErrorCode::invalid_argument) << bad;
    EXPECT_FALSE(is_tcp_endpoint(bad)) << bad;
  }
}

// A launcher's join socket that answers as `answer` says, on a thread and loop of its own.
class JoinServer {
 public:
  using Answer = std::function<std::optional<JoinReply>(const JoinRequest&, const PublicKey&)>;
  explicit JoinServer(Answer answer, std::uint32_t version = kProtocolVersion)
      : answer_(std::move(answer)), version_(version) {
    thread_ = std::thread([this] { serve(); });
    while (!ready_) std::this_thread::yield();
  }
  ~JoinServer() {
    stop_ = true;
    thread_.join();
  }
  wire::JoinToken token() const {
    return {keys_.public_key, endpoint_, "tcp://*:1001", "tcp://*:1002", "the secret", {}};
  }

 private:
  void serve() {
    io::EventLoop loop;
    io::Transport transport(loop, [](const auto&, const auto&) { return true; });
    auto server = io::ServerSocket::bind(transport, "tcp://127.0.0.1:*", "join", keys_);
    endpoint_ = server->endpoint();
    ready_ = true;
    while (!stop_) {
      loop.turn(milliseconds(2));
      while (const auto got = server->receive()) {
        const auto request = wire::decode_envelope<JoinMessage>(got->bytes);
        const auto answer = answer_(std::get<JoinRequest>(request->body), got->key);
        Envelope<JoinReply> reply;
        reply.version = version_;
        reply.sequence = 1;
        reply.reply_to = request->sequence;
        if (!answer) continue;
        reply.body = *answer;
        EXPECT_TRUE(server->send(got->peer, wire::encode(reply)));
      }
    }
  }
  Answer answer_;
  const std::uint32_t version_;
  io::KeyPair keys_ = io::generate_key_pair();
  std::string endpoint_;
  std::atomic<bool> ready_{false}, stop_{false};
  std::thread thread_;
};

class JoinTest : public testing::Test {
 protected:
  Result<Identity> join_at(const JoinServer& server, Duration timeout = seconds(20)) {
    return join(loop_, transport_, server.token(), endpoints_of(server.token()), keys_, "n1",
                timeout);
  }
  io::EventLoop loop_;
  io::Transport transport_{loop_, [](const auto&, const auto&) { return false; }};
  io::KeyPair keys_ = io::generate_key_pair();
};

TEST_F(JoinTest, BecomesTheNodeThatTheLauncherSays) {
  std::string secret;
  PublicKey key;
  const JoinServer server([&](const JoinRequest& request, const PublicKey& from) {
    secret = request.token_secret;
    key = from;
    return JoinAccepted{NodeId(7), request.name + "-2"};
  });
  const auto identity = join_at(server);
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->node, NodeId(7));
  EXPECT_EQ(identity->name, "n1-2");
  EXPECT_EQ(identity->control_endpoint, "tcp://*:1001");
  EXPECT_EQ(secret, "the secret");
  EXPECT_EQ(key, keys_.public_key);
}

// At once, and in the words of the launcher, which name its version.
TEST_F(JoinTest, ALauncherOfAnotherVersionIsNamedWithOurs) {
  const std::string words =
      "control message: has protocol version 1, but this program (9.9) speaks "
      "version 9; install the same Lockstep on both sides";
  const JoinServer server([&](const auto&, const auto&) { return JoinRefused{words}; }, 9);
  const Instant before = io::SystemClock().now();
  const auto joined = join_at(server);
  ASSERT_FALSE(joined);
  EXPECT_LT(io::SystemClock().now() - before, seconds(10));
  EXPECT_EQ(joined.error().code, ErrorCode::unsupported);
  EXPECT_THAT(joined.error().message, testing::HasSubstr(words));
  EXPECT_THAT(joined.error().message,
              testing::HasSubstr("this agent (" + std::string(LOCKSTEP_VERSION) + ")"));
  const JoinServer other([&](const auto&, const auto&) { return JoinAccepted{NodeId(1), "n"}; }, 9);
  EXPECT_THAT(join_at(other).error().message, testing::HasSubstr("has protocol version 9"));
}

TEST_F(JoinTest, ALostAnswerIsAskedForAgain) {
  int asked = 0;
  const JoinServer server([&](const JoinRequest&, const PublicKey&) -> std::optional<JoinReply> {
    if (++asked == 1) return std::nullopt;
    return JoinAccepted{NodeId(7), "n1"};
  });
  EXPECT_TRUE(join_at(server));
}

TEST_F(JoinTest, ARefusalIsToldWithItsReason) {
  const JoinServer server(
      [](const JoinRequest&, const PublicKey&) { return JoinRefused{"the token expired"}; });
  const auto identity = join_at(server);
  ASSERT_FALSE(identity);
  EXPECT_NE(identity.error().message.find("the token expired"), std::string::npos);
}

TEST_F(JoinTest, SilenceEndsWithTheEndpointNamed) {
  const JoinServer server(
      [](const JoinRequest&, const PublicKey&) { return std::optional<JoinReply>(); });
  const auto identity = join_at(server, milliseconds(200));
  ASSERT_FALSE(identity);
  EXPECT_NE(identity.error().message.find(server.token().join_endpoint), std::string::npos);
}

}  // namespace
}  // namespace lockstep::agent
