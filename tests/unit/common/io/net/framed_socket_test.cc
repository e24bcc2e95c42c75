#include "common/io/net/framed_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

// Two connected sockets on one loop, with what each received.
struct Pair {
  explicit Pair(std::size_t max_frame = 1 << 20) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    raw = ends[1];
    left = make(Fd(ends[0]), max_frame, left_got, left_closed);
    right = make(Fd(ends[1]), max_frame, right_got, right_closed);
  }
  std::unique_ptr<FramedSocket> make(Fd fd, std::size_t max_frame, std::vector<std::string>& got,
                                     int& closed) {
    return std::make_unique<FramedSocket>(
        loop, std::move(fd), max_frame, [&got](std::string frame) { got.push_back(frame); },
        [&closed] { ++closed; });
  }
  EventLoop loop;
  int raw = -1;
  std::vector<std::string> left_got, right_got;
  int left_closed = 0, right_closed = 0;
  std::unique_ptr<FramedSocket> left, right;
};

TEST(FramedSocketTest, CarriesFramesOfEverySizeInOrder) {
  Pair pair;
  const std::vector<std::string> frames = {"", "a", std::string(1 << 20, 'x'),
                                           std::string("\0", 1)};
  for (const auto& frame : frames) pair.left->send(frame);
  EXPECT_TRUE(turn_until(pair.loop, [&] { return pair.right_got.size() == frames.size(); }));
  EXPECT_EQ(pair.right_got, frames);
  EXPECT_EQ(pair.left->backlog_bytes(), 0u);
}

TEST(FramedSocketTest, QueuesWhatThePeerDoesNotReadYet) {
  Pair pair;
  for (int i = 0; i < 64; ++i)
    pair.left->send(std::string(1 << 20, static_cast<char>('a' + i % 26)));
  EXPECT_GT(pair.left->backlog_bytes(), 0u);
  EXPECT_TRUE(turn_until(pair.loop, [&] { return pair.right_got.size() == 64; }));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(pair.right_got[i][0], 'a' + i % 26);
  EXPECT_EQ(pair.left->backlog_bytes(), 0u);
}

TEST(FramedSocketTest, ClosesAPeerThatSendsTooLongAFrame) {
  Pair pair(1000);
  pair.left->send(std::string(1001, 'x'));
  EXPECT_TRUE(turn_until(pair.loop, [&] { return pair.right_closed == 1; }));
  EXPECT_TRUE(pair.right_got.empty());
}

TEST(FramedSocketTest, DeliversWhatCameBeforeTheCloseThenTellsOnce) {
  Pair pair;
  pair.left->send("last words");
  pair.left.reset();
  EXPECT_TRUE(turn_until(pair.loop, [&] { return pair.right_closed == 1; }));
  EXPECT_EQ(pair.right_got, std::vector<std::string>{"last words"});
  pair.right->send("to nobody");
  pair.loop.turn(Duration::zero());
  EXPECT_EQ(pair.right_closed, 1);
  EXPECT_EQ(pair.left_closed, 0) << "its owner destroyed it: nothing to tell";
}

TEST(FramedSocketTest, ClosesWhenTheBacklogPassesItsBound) {
  Pair pair;
  pair.loop.unwatch(pair.raw, EventLoop::Interest::read);  // the peer reads nothing
  const std::string frame(1 << 20, 'x');
  for (int i = 0; i < 260; ++i) pair.left->send(frame);
  EXPECT_TRUE(turn_until(pair.loop, [&] { return pair.left_closed == 1; }));
}

TEST(FramedSocketTest, ItsOwnerMayDestroyItFromTheFrameHandler) {
  EventLoop loop;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  Fd writer(ends[0]);
  std::unique_ptr<FramedSocket> socket;
  int frames = 0;
  socket = std::make_unique<FramedSocket>(
      loop, Fd(ends[1]), 100,
      [&](std::string) {
        ++frames;
        socket.reset();
      },
      [] { FAIL() << "closed by its owner"; });
  ASSERT_TRUE(write_all(writer.get(), std::string("\1\0\0\0a\1\0\0\0b", 10)));
  EXPECT_TRUE(turn_until(loop, [&] { return frames > 0; }));
  loop.turn(Duration::zero());
  EXPECT_EQ(frames, 1);
}

TEST(FramedSocketTest, WorksBehindAPathLongerThanAUnixAddress) {
  const TempDir dir;
  const std::string deep = dir / (std::string(100, 'd') + "/" + std::string(100, 'e'));
  ASSERT_TRUE(make_directories(deep));
  EXPECT_EQ(connect_unix(deep, "control.sock").error().code, ErrorCode::unavailable);
  const auto listener = listen_unix(deep, "control.sock", 0600);
  ASSERT_TRUE(listener) << listener.error().message;
  struct stat status {};
  ASSERT_EQ(::stat((deep + "/control.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(accept_unix(listener->get()).error().code, ErrorCode::unavailable);

  EventLoop loop;
  std::string got;
  auto client_fd = connect_unix(deep, "control.sock");
  ASSERT_TRUE(client_fd) << client_fd.error().message;
  auto server_fd = accept_unix(listener->get());
  ASSERT_TRUE(server_fd);
  FramedSocket client(
      loop, *std::move(client_fd), 100, [](std::string) {}, [] {});
  FramedSocket server(
      loop, *std::move(server_fd), 100, [&](std::string f) { got = f; }, [] {});
  client.send("hello");
  EXPECT_TRUE(turn_until(loop, [&] { return got == "hello"; }));
}

TEST(FramedSocketTest, ASecondListenerReplacesWhatADeadOneLeft) {
  const TempDir dir;
  { ASSERT_TRUE(listen_unix(dir.path(), "s")); }
  EXPECT_TRUE(exists(dir / "s"));
  EXPECT_EQ(connect_unix(dir.path(), "s").error().code, ErrorCode::unavailable);
  const auto again = listen_unix(dir.path(), "s");
  ASSERT_TRUE(again);
  EXPECT_TRUE(connect_unix(dir.path(), "s"));
}

}  // namespace
}  // namespace lockstep::io
