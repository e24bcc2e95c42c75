#include "common/io/event_loop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  Fd read, write;
};

TEST(EventLoopTest, CallsTheReaderWhileBytesWaitAndNotAfterUnwatch) {
  EventLoop loop;
  Pipe pipe;
  int calls = 0;
  loop.watch(pipe.read.get(), EventLoop::Interest::read, [&] { ++calls; });
  loop.turn(Duration::zero());
  EXPECT_EQ(calls, 0);
  ASSERT_TRUE(write_all(pipe.write.get(), "x"));
  loop.turn(Duration::max());
  loop.turn(Duration::max());
  EXPECT_EQ(calls, 2);  // level-triggered: nobody has read the byte
  loop.unwatch(pipe.read.get(), EventLoop::Interest::read);
  loop.turn(Duration::zero());
  EXPECT_EQ(calls, 2);
}

TEST(EventLoopTest, TellsAHangUpToTheReader) {
  EventLoop loop;
  Pipe pipe;
  bool called = false;
  loop.watch(pipe.read.get(), EventLoop::Interest::read, [&] { called = true; });
  pipe.write.reset();
  EXPECT_TRUE(turn_until(loop, [&] { return called; }));
}

TEST(EventLoopTest, TellsAWriterThatItsReaderIsGone) {
  EventLoop loop;
  Pipe pipe;
  bool called = false;
  loop.watch(pipe.write.get(), EventLoop::Interest::write, [&] { called = true; });
  pipe.read.reset();
  EXPECT_TRUE(turn_until(loop, [&] { return called; }));
}

TEST(EventLoopTest, AHandlerMayUnwatchItselfAndItsNeighbours) {
  EventLoop loop;
  Pipe a, b;
  int calls = 0;
  const auto stop_both = [&] {
    ++calls;
    loop.unwatch(a.read.get(), EventLoop::Interest::read);
    loop.unwatch(b.read.get(), EventLoop::Interest::read);
  };
  loop.watch(a.read.get(), EventLoop::Interest::read, stop_both);
  loop.watch(b.read.get(), EventLoop::Interest::read, stop_both);
  ASSERT_TRUE(write_all(a.write.get(), "x"));
  ASSERT_TRUE(write_all(b.write.get(), "x"));
  loop.turn(Duration::max());
  EXPECT_EQ(calls, 1);
}

TEST(EventLoopTest, ADescriptorNumberUsedAgainInOneTurnGetsNoStaleEvent) {
  EventLoop loop;
  Pipe a, b;
  int stale = 0, first = 0;
  // Whichever runs first replaces the other's watch by one on a silent descriptor of the same
  // number.
  const auto replace = [&](Pipe& other) {
    ++first;
    Pipe silent;
    loop.unwatch(other.read.get(), EventLoop::Interest::read);
    ASSERT_GE(::dup2(silent.read.get(), other.read.get()), 0);
    loop.watch(other.read.get(), EventLoop::Interest::read, [&] { ++stale; });
    // Its write end closes with `silent`; the hang-up may be told in the next turn, not in this
    // one.
  };
  loop.watch(a.read.get(), EventLoop::Interest::read, [&] { replace(b); });
  loop.watch(b.read.get(), EventLoop::Interest::read, [&] { replace(a); });
  ASSERT_TRUE(write_all(a.write.get(), "x"));
  ASSERT_TRUE(write_all(b.write.get(), "x"));
  loop.turn(Duration::max());
  EXPECT_EQ(first, 1);
  EXPECT_EQ(stale, 0);
}

TEST(EventLoopTest, RunsPostedWorkOfManyThreadsInOrderOfEach) {
  EventLoop loop;
  constexpr int kThreads = 4, kPosts = 1000;
  std::vector<std::vector<int>> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPosts; ++i) loop.post([&seen, t, i] { seen[t].push_back(i); });
    });
  }
  const bool all = turn_until(loop, [&] {
    std::size_t total = 0;
    for (const auto& list : seen) total += list.size();
    return total == kThreads * kPosts;
  });
  for (auto& thread : threads) thread.join();
  ASSERT_TRUE(all);
  for (const auto& list : seen) EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
}

TEST(EventLoopTest, PostWakesALoopThatWaitsWithoutBound) {
  EventLoop loop;
  bool ran = false;
  std::thread poster([&] { loop.post([&] { ran = true; }); });
  while (!ran) loop.turn(Duration::max());
  poster.join();
}

TEST(EventLoopTest, WaitsAtLeastAsLongAsAsked) {
  EventLoop loop;
  SystemClock clock;
  const Instant start = clock.now();
  loop.turn(std::chrono::microseconds(2500));
  EXPECT_GE(clock.now() - start, Duration(std::chrono::microseconds(2500)));
}

TEST(EventLoopTest, GivesSignalsToTheHandler) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    EventLoop loop;
    int seen = 0;
    ASSERT_TRUE(loop.watch_signals({SIGUSR1, SIGUSR2}, [&](int signal) { seen = signal; }));
    ASSERT_EQ(::raise(SIGUSR2), 0);
    EXPECT_TRUE(turn_until(loop, [&] { return seen == SIGUSR2; }));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace lockstep::io
