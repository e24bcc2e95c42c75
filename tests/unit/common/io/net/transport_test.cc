#include "common/io/net/transport.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <zmq.h>

#include <atomic>
#include <set>
#include <thread>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

// A server and its gate on one loop; clients share the loop and the context.
class TransportTest : public testing::Test {
 protected:
  TransportTest()
      : transport_(loop_, [this](const std::string& domain, const PublicKey& key) {
          asked_.push_back(domain);
          return allowed_.contains(key.value);
        }) {}

  ServerSocket serve(const std::string& endpoint = "tcp://127.0.0.1:*", SocketLimits limits = {}) {
    auto server = ServerSocket::bind(transport_, endpoint, "control", server_keys_, limits);
    EXPECT_TRUE(server) << server.error().message;
    return *std::move(server);
  }
  ClientSocket dial(const std::string& endpoint, const KeyPair& keys) {
    auto client = ClientSocket::connect(transport_, endpoint, server_keys_.public_key, keys);
    EXPECT_TRUE(client) << client.error().message;
    return *std::move(client);
  }
  KeyPair allowed_client() {
    KeyPair keys = generate_key_pair();
    allowed_.insert(keys.public_key.value);
    return keys;
  }
  std::optional<ServerSocket::Incoming> expect_message(ServerSocket& server) {
    std::optional<ServerSocket::Incoming> got;
    EXPECT_TRUE(turn_until(loop_, [&] { return (got = server.receive()).has_value(); }));
    return got;
  }

  EventLoop loop_;
  std::set<std::string> allowed_;
  std::vector<std::string> asked_;
  KeyPair server_keys_ = generate_key_pair();
  Transport transport_;
};

TEST_F(TransportTest, AKnownKeyIsLetInAndNamedByItsKey) {
  ServerSocket server = serve();
  const KeyPair keys = allowed_client();
  ClientSocket client = dial(server.endpoint(), keys);
  ASSERT_TRUE(turn_until(loop_, [&] { return client.send("hello").has_value(); }));
  const auto got = expect_message(server);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes, "hello");
  EXPECT_EQ(got->key, keys.public_key);
  EXPECT_EQ(asked_, std::vector<std::string>{"control"});
  ASSERT_TRUE(server.send(got->peer, "welcome"));
  std::optional<std::string> reply;
  EXPECT_TRUE(turn_until(loop_, [&] { return (reply = client.receive()).has_value(); }));
  EXPECT_EQ(reply, "welcome");
}

TEST_F(TransportTest, AnUnknownKeyIsRefused) {
  ServerSocket server = serve();
  ClientSocket stranger = dial(server.endpoint(), generate_key_pair());
  ASSERT_TRUE(turn_until(loop_, [&] { return !asked_.empty(); }));
  for (int i = 0; i < 20; ++i) loop_.turn(milliseconds(5));
  EXPECT_FALSE(stranger.send("let me in"));
  EXPECT_FALSE(server.receive());
}

TEST_F(TransportTest, AClientWithTheWrongServerKeyNeverGetsThrough) {
  ServerSocket server = serve();
  const KeyPair keys = allowed_client();
  auto client =
      ClientSocket::connect(transport_, server.endpoint(), generate_key_pair().public_key, keys);
  ASSERT_TRUE(client);
  for (int i = 0; i < 20; ++i) loop_.turn(milliseconds(5));
  EXPECT_FALSE(client->send("x"));
  EXPECT_TRUE(asked_.empty());
  EXPECT_FALSE(ClientSocket::connect(transport_, server.endpoint(), PublicKey("short"), keys));
}

TEST_F(TransportTest, TheLoopWakesForTheSocket) {
  ServerSocket server = serve();
  int calls = 0;
  std::string got;
  loop_.watch_socket(server.handle(), [&] {
    ++calls;
    while (const auto message = server.receive()) got += message->bytes;
  });
  ClientSocket client = dial(server.endpoint(), allowed_client());
  ASSERT_TRUE(turn_until(loop_, [&] { return client.send("a").has_value(); }));
  ASSERT_TRUE(client.send("b"));
  EXPECT_TRUE(turn_until(loop_, [&] { return got == "ab"; }));
  const int calls_before = calls;
  loop_.turn(Duration::zero());
  EXPECT_EQ(calls, calls_before) << "nothing waits, so the handler is not called";
  loop_.unwatch_socket(server.handle());
}

TEST_F(TransportTest, AClientReconnectsToARestartedServer) {
  const KeyPair keys = allowed_client();
  auto server = std::make_unique<ServerSocket>(serve());
  const std::string endpoint = server->endpoint();
  ClientSocket client = dial(endpoint, keys);
  ASSERT_TRUE(turn_until(loop_, [&] { return client.send("one").has_value(); }));
  ASSERT_TRUE(expect_message(*server));
  server.reset();
  ASSERT_TRUE(turn_until(loop_, [&] { return !client.send("into the void"); }))
      << "nothing queues for a dead server";
  Result<ServerSocket> again = make_error(ErrorCode::internal, "not yet");
  ASSERT_TRUE(turn_until(loop_, [&] {
    again = ServerSocket::bind(transport_, endpoint, "control", server_keys_);
    return again.has_value();
  }));
  ASSERT_TRUE(turn_until(loop_, [&] { return client.send("two").has_value(); }));
  const auto got = expect_message(*again);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes, "two");
}

TEST_F(TransportTest, TellsWhenTheLinkGoesUpAndDownAndWhenAKeyIsRefused) {
  using Link = ClientSocket::Link;
  auto server = std::make_unique<ServerSocket>(serve());
  const KeyPair keys = allowed_client();
  ClientSocket client = dial(server->endpoint(), keys);
  std::vector<Link> seen;
  ASSERT_TRUE(client.watch_link(loop_, [&](Link link) { seen.push_back(link); }));
  ASSERT_TRUE(turn_until(loop_, [&] { return !seen.empty(); }));
  EXPECT_EQ(seen, std::vector<Link>{Link::up});
  EXPECT_TRUE(client.send("at once")) << "up means that a message can be sent";
  const std::string endpoint = server->endpoint();
  server.reset();
  ASSERT_TRUE(turn_until(loop_, [&] { return seen.size() >= 2; }));
  EXPECT_EQ(seen[1], Link::down);
  allowed_.clear();
  Result<ServerSocket> again = make_error(ErrorCode::internal, "not yet");
  ASSERT_TRUE(turn_until(loop_, [&] {
    again = ServerSocket::bind(transport_, endpoint, "control", server_keys_);
    return again.has_value();
  }));
  EXPECT_TRUE(turn_until(loop_, [&] { return seen.back() == Link::refused; }));
}

TEST_F(TransportTest, TellsOfALinkThatWasUpBeforeItWasWatched) {
  ServerSocket server = serve();
  ClientSocket client = dial(server.endpoint(), allowed_client());
  ASSERT_TRUE(turn_until(loop_, [&] { return client.send("x").has_value(); }));
  int up = 0;
  ASSERT_TRUE(client.watch_link(
      loop_, [&](ClientSocket::Link link) { up += link == ClientSocket::Link::up ? 1 : 100; }));
  EXPECT_TRUE(turn_until(loop_, [&] { return up > 0; }));
  EXPECT_EQ(up, 1);
}

TEST_F(TransportTest, APeerThatLeftIsUnavailable) {
  ServerSocket server = serve();
  std::string peer;
  {
    ClientSocket client = dial(server.endpoint(), allowed_client());
    ASSERT_TRUE(turn_until(loop_, [&] { return client.send("x").has_value(); }));
    peer = expect_message(server)->peer;
  }
  EXPECT_TRUE(turn_until(loop_, [&] {
    const auto sent = server.send(peer, "y");
    return !sent && sent.error().code == ErrorCode::unavailable;
  }));
  EXPECT_EQ(server.send("never seen", "y").error().code, ErrorCode::unavailable);
}

TEST_F(TransportTest, AFullQueueIsToldAndNotWaitedFor) {
  ServerSocket server = serve("tcp://127.0.0.1:*", {.high_water_mark = 4});
  ClientSocket client = dial(server.endpoint(), allowed_client());
  ASSERT_TRUE(turn_until(loop_, [&] { return client.send("x").has_value(); }));
  const std::string peer = expect_message(server)->peer;
  const std::string chunk(1 << 20, 'x');
  bool full = false;
  for (int i = 0; i < 100'000 && !full; ++i) {
    const auto sent = server.send(peer, chunk);
    full = !sent && sent.error().code == ErrorCode::resource_exhausted;
  }
  EXPECT_TRUE(full);
}

TEST_F(TransportTest, TooLargeAMessageCutsThePeerOff) {
  ServerSocket server = serve("tcp://127.0.0.1:*", {.max_message_bytes = 1000});
  ClientSocket client = dial(server.endpoint(), allowed_client());
  ASSERT_TRUE(turn_until(loop_, [&] { return client.send(std::string(5000, 'x')).has_value(); }));
  // What is sent before the cut is noticed is lost with the connection, so the client repeats it.
  std::optional<ServerSocket::Incoming> got;
  EXPECT_TRUE(turn_until(loop_, [&] {
    if (!client.send("small")) return false;
    return (got = server.receive()).has_value();
  }));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes, "small");
}

TEST_F(TransportTest, TheLastReplyLeavesWhenTheServerCloses) {
  auto server = std::make_unique<ServerSocket>(serve());
  const KeyPair keys = allowed_client();
  // A plain DEALER: a ClientSocket may drop what it has not received when its connection breaks.
  void* client = zmq_socket(transport_.context(), ZMQ_DEALER);
  const int no_linger = 0;
  zmq_setsockopt(client, ZMQ_LINGER, &no_linger, sizeof no_linger);
  zmq_setsockopt(client, ZMQ_CURVE_SERVERKEY, server_keys_.public_key.value.c_str(), 40);
  zmq_setsockopt(client, ZMQ_CURVE_PUBLICKEY, keys.public_key.value.c_str(), 40);
  zmq_setsockopt(client, ZMQ_CURVE_SECRETKEY, keys.secret_key.c_str(), 40);
  ASSERT_EQ(zmq_connect(client, server->endpoint().c_str()), 0);
  ASSERT_EQ(zmq_send(client, "bye?", 4, 0), 4);
  const std::string peer = expect_message(*server)->peer;
  ASSERT_TRUE(server->send(peer, std::string(1 << 20, 'b')));
  server.reset();
  std::string reply(2 << 20, ' ');
  int got = -1;
  EXPECT_TRUE(turn_until(loop_, [&] {
    return (got = zmq_recv(client, reply.data(), reply.size(), ZMQ_DONTWAIT)) >= 0;
  }));
  EXPECT_EQ(got, 1 << 20);
  zmq_close(client);
}

TEST_F(TransportTest, SendWithinWaitsForTheConnectionAndNoLonger) {
  ServerSocket server = serve();
  ClientSocket client = dial(server.endpoint(), allowed_client());
  // The handshake needs the loop, so the waiting happens on another thread.
  Status sent = make_error(ErrorCode::internal, "not yet");
  std::atomic<bool> done{false};
  std::thread sender([&] {
    sent = client.send_within("x", seconds(20));
    done = true;
  });
  EXPECT_TRUE(turn_until(loop_, [&] { return done.load(); }));
  sender.join();
  EXPECT_TRUE(sent);
  ClientSocket nowhere = dial("tcp://127.0.0.1:1", allowed_client());
  const auto failed = nowhere.send_within("x", milliseconds(20));
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("tcp://127.0.0.1:1"), std::string::npos);
}

// A client blocks in send_within while the server's gate is served here.
class BlockedSend {
 public:
  BlockedSend(EventLoop& loop, ClientSocket& client, Duration timeout) {
    std::atomic<bool> done{false};
    std::thread sender([&] {
      status_ = client.send_within("x", timeout);
      done = true;
    });
    EXPECT_TRUE(turn_until(loop, [&] { return done.load(); }));
    sender.join();
  }
  const Status& status() const { return status_; }

 private:
  Status status_ = make_error(ErrorCode::internal, "not yet");
};

TEST_F(TransportTest, ARefusedKeyIsToldAtOnceWithItsFile) {
  ServerSocket server = serve();
  KeyPair keys = generate_key_pair();
  keys.path = "/somewhere/user.key";
  ClientSocket client = dial(server.endpoint(), keys);
  SystemClock clock;
  const Instant before = clock.now();
  const BlockedSend blocked(loop_, client, seconds(15));
  ASSERT_FALSE(blocked.status());
  EXPECT_LT(clock.now() - before, seconds(10));
  EXPECT_EQ(blocked.status().error().code, ErrorCode::permission_denied);
  EXPECT_NE(blocked.status().error().message.find("/somewhere/user.key"), std::string::npos);
}

TEST_F(TransportTest, AnotherServersKeyNobodyAndSilenceAreToldApart) {
  ServerSocket server = serve();
  auto other = ClientSocket::connect(transport_, server.endpoint(), generate_key_pair().public_key,
                                     allowed_client());
  ASSERT_TRUE(other);
  const BlockedSend wrong(loop_, *other, milliseconds(500));
  ASSERT_FALSE(wrong.status());
  EXPECT_NE(wrong.status().error().message.find("does not have the launcher's key"),
            std::string::npos)
      << wrong.status().error().message;

  ClientSocket nowhere = dial("tcp://127.0.0.1:1", allowed_client());
  const BlockedSend nobody(loop_, nowhere, milliseconds(300));
  ASSERT_FALSE(nobody.status());
  EXPECT_NE(nobody.status().error().message.find("nobody listened at tcp://127.0.0.1:1"),
            std::string::npos)
      << nobody.status().error().message;

  // A listener that never says a word.
  const Fd mute(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(mute.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(mute.get(), 8), 0);
  ASSERT_EQ(::getsockname(mute.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  ClientSocket unheard =
      dial("tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)), allowed_client());
  const BlockedSend silent(loop_, unheard, milliseconds(300));
  ASSERT_FALSE(silent.status());
  EXPECT_NE(silent.status().error().message.find("accepted the connection but did not answer"),
            std::string::npos)
      << silent.status().error().message;
}

// libzmq itself does not dial again after a refusal.
TEST_F(TransportTest, ARefusedKeyThatIsAuthorisedLaterGetsThrough) {
  ServerSocket server = serve();
  const KeyPair keys = generate_key_pair();
  ClientSocket client = dial(server.endpoint(), keys);
  std::vector<ClientSocket::Link> seen;
  ASSERT_TRUE(client.watch_link(loop_, [&](ClientSocket::Link link) { seen.push_back(link); }));
  ASSERT_TRUE(turn_until(loop_, [&] { return !seen.empty(); }));
  EXPECT_EQ(seen.back(), ClientSocket::Link::refused);
  const std::size_t asked = asked_.size();
  ASSERT_TRUE(turn_until(loop_, [&] { return !client.send("x") && asked_.size() >= asked + 2; }))
      << "it is dialled again while it is still refused";
  allowed_.insert(keys.public_key.value);
  ASSERT_TRUE(turn_until(loop_, [&] { return client.send("now").has_value(); }));
  // The send itself may meet the connection's event; the watcher hears of it in a later turn.
  ASSERT_TRUE(turn_until(loop_, [&] { return seen.back() == ClientSocket::Link::up; }));
  EXPECT_EQ(expect_message(server)->bytes, "now");
}

TEST_F(TransportTest, WorksOverIpc) {
  const TempDir dir;
  ServerSocket server = serve("ipc://" + dir / "socket");
  const KeyPair keys = allowed_client();
  ClientSocket client = dial(server.endpoint(), keys);
  ASSERT_TRUE(turn_until(loop_, [&] { return client.send("x").has_value(); }));
  EXPECT_EQ(expect_message(server)->key, keys.public_key);
}

TEST_F(TransportTest, AnEndpointInUseOrIllFormedIsExplained) {
  ServerSocket server = serve();
  const auto second = ServerSocket::bind(transport_, server.endpoint(), "control", server_keys_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_NE(second.error().message.find(server.endpoint()), std::string::npos);
  EXPECT_FALSE(ServerSocket::bind(transport_, "nonsense", "control", server_keys_));
}

TEST(KeyPairTest, IsMadeOncePrivateAndRefusedWhenDamaged) {
  const TempDir dir;
  const auto first = load_or_create_key_pair(dir / "keys");
  ASSERT_TRUE(first) << first.error().message;
  const auto second = load_or_create_key_pair(dir / "keys");
  ASSERT_TRUE(second);
  EXPECT_EQ(first->public_key, second->public_key);
  EXPECT_EQ(first->secret_key, second->secret_key);
  struct stat status {};
  ASSERT_EQ(::stat((dir / "keys").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(list_directory(dir.path())->size(), 1u);
  const KeyPair other = generate_key_pair();
  ASSERT_TRUE(write_file_atomically(
      dir / "keys", "public " + other.public_key.value + "\nsecret " + first->secret_key + "\n"));
  EXPECT_EQ(load_or_create_key_pair(dir / "keys").error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace lockstep::io
