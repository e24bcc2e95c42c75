// The watch over real processes, children of this test: as lockstep-spawn would be, it is their
// parent.

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <mutex>

#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "runner/watch/node_watch.h"
#include "runner/watch/watch_thread.h"

namespace lockstep::runner {
namespace {

constexpr Duration kDeadline = minutes(1);

class Child {
 public:
  explicit Child(const std::function<void()>& does) : pid_(::fork()) {
    if (pid_ != 0) return;
    does();
    ::_exit(0);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int pid() const { return pid_; }

 private:
  int pid_;
};

WatchLook look_at(int pid) {
  WatchLook look;
  look.place.spawn_pid = ::getpid();
  RankFacts facts;
  facts.pid = pid;
  look.ranks = {facts};
  return look;
}

// Looks at it until `is_so`, or for a minute; the last standing.
RankStanding standing_once(int pid, const std::function<bool(const RankStanding&)>& is_so) {
  RankWatch watch;
  io::SystemClock clock;
  const Instant until = clock.now() + kDeadline;
  RankStanding last;
  while (clock.now() < until) {
    last = watch.sample(clock.now(), look_at(pid)).standings.at(0);
    if (last.doing != Doing::starts && is_so(last)) break;
    ::usleep(200'000);
  }
  return last;
}

std::function<bool(const RankStanding&)> is_doing(Doing doing) {
  return [doing](const RankStanding& standing) { return standing.doing == doing; };
}

TEST(RealRanks, OneIsBlockedOnAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const io::Fd reader(ends[0]), writer(ends[1]);
  const Child child([&] {
    char byte = 0;
    (void)!::read(reader.get(), &byte, 1);
  });
  const RankStanding standing = standing_once(child.pid(), is_doing(Doing::reads));
  EXPECT_EQ(standing.doing, Doing::reads);
  EXPECT_EQ(standing.call, "read");
  EXPECT_EQ(standing.on.substr(0, 6), "a pipe");
  EXPECT_EQ(standing.pid, child.pid());
}

TEST(RealRanks, OneIsStopped) {
  const Child child([] { ::raise(SIGSTOP); });
  EXPECT_EQ(standing_once(child.pid(), is_doing(Doing::stopped)).doing, Doing::stopped);
}

TEST(RealRanks, OneSpinsAndDoesNotMove) {
  const Child child([] {
    volatile unsigned spins = 0;
    while (true) {
      const unsigned next = spins + 1;
      spins = next;
    }
  });
  const RankStanding standing = standing_once(child.pid(), [](const RankStanding& each) {
    return each.doing == Doing::computes && each.cpu_milli > 0 && each.still() > seconds(0);
  });
  EXPECT_EQ(standing.doing, Doing::computes);
  EXPECT_GT(standing.cpu_milli, 0);
  EXPECT_GT(standing.still(), seconds(0));
}

TEST(RealRanks, OneSleeps) {
  const Child child([] {
    while (true) ::sleep(60);
  });
  const RankStanding standing = standing_once(child.pid(), is_doing(Doing::sleeps));
  EXPECT_EQ(standing.doing, Doing::sleeps);
  EXPECT_TRUE(standing.has_timeout || standing.call.empty());
}

TEST(RealRanks, OneIsDeadLocked) {
  const Child child([] {
    static std::mutex mutex;
    mutex.lock();
    pthread_mutex_lock(mutex.native_handle());
  });
  EXPECT_EQ(standing_once(child.pid(), is_doing(Doing::locks)).doing, Doing::locks);
}

TEST(RealRanks, AShellWaitsForTheOneThatWorks) {
  const Child child([] {
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) ::sleep(60);
    }
    ::waitpid(-1, nullptr, 0);
  });
  const RankStanding standing = standing_once(child.pid(), [](const RankStanding& each) {
    return each.doing == Doing::sleeps && each.processes == 2;
  });
  EXPECT_EQ(standing.doing, Doing::sleeps);
  EXPECT_NE(standing.pid, child.pid());
}

TEST(RealRanks, TwoAreConnectedAndOneWaitsForTheOther) {
  const io::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  address.ss_family = AF_INET;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::listen(listener.get(), 1), 0) << "which binds it to a port";
  ASSERT_EQ(::getsockname(listener.get(), raw, &size), 0);
  const Child reads([&] {
    const int fd = ::accept(listener.get(), nullptr, nullptr);
    char byte = 0;
    (void)!::read(fd, &byte, 1);
  });
  const Child sleeps([&] {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    (void)!::connect(fd, raw, size);
    while (true) ::sleep(60);
  });
  RankWatch watch;
  io::SystemClock clock;
  WatchLook look = look_at(reads.pid());
  look.ranks.push_back(look.ranks[0]);
  look.ranks[1].rank = 1;
  look.ranks[1].pid = sleeps.pid();
  const Instant until = clock.now() + kDeadline;
  RankStandings standings;
  while (clock.now() < until) {
    standings = watch.sample(clock.now(), look).standings;
    if (standings[0].doing == Doing::waits_peer && standings[1].peer_sockets == 1) break;
    ::usleep(200'000);
  }
  EXPECT_EQ(standings[0].doing, Doing::waits_peer);
  EXPECT_EQ(standings[0].call, "read");
  EXPECT_EQ(standings[0].peer_sockets, 1);
  EXPECT_EQ(standings[1].peer_sockets, 1);
  EXPECT_NE(standings[0].on, "");
}

class NoPlace final : public AttachPlace {
 public:
  void send(const AttachFrame&) override {}
  const RankHere* rank(int) const override { return nullptr; }
  spawn::Client* spawn() override { return nullptr; }
  int spawn_pid() const override { return ::getpid(); }
  void started(int, int) override {}
  void ended(int) override {}
};

TEST(NodeWatch, TellsOfItsRanksUntilAllHaveEnded) {
  const Child child([] {
    while (true) ::sleep(60);
  });
  io::EventLoop loop;
  io::SystemClock clock;
  NoPlace place;
  RankStandings told;
  NodeWatch::Settings settings;
  settings.node_rank = 2;
  settings.meets_at_pmix = true;
  NodeWatch watch(loop, clock, place, {}, std::move(settings),
                  {{},
                   [](int) { return std::make_pair(std::int64_t{70}, std::int64_t{3}); },
                   [&](const RankStandings& standings) { told = standings; }});
  EXPECT_EQ(watch.next_deadline(), Instant::never());
  const auto turn_until = [&](const std::function<bool()>& is_so) {
    const Instant until = clock.now() + kDeadline;
    while (!is_so() && clock.now() < until) {
      loop.turn(milliseconds(20));
      watch.expire(clock.now());
    }
    return is_so();
  };
  watch.rank_started(5, child.pid());
  watch.fence_entered();
  ASSERT_TRUE(turn_until([&] { return !told.empty(); }));
  EXPECT_EQ(told[0].rank, 5);
  EXPECT_EQ(told[0].node_rank, 2);
  EXPECT_EQ(told[0].log_bytes, 70);
  EXPECT_EQ(told[0].log_lines, 3);
  EXPECT_EQ(told[0].has_met, false);
  EXPECT_EQ(told[0].fences, 1);
  EXPECT_TRUE(told[0].in_fence);
  EXPECT_EQ(told[0].processes, 1);
  watch.rank_connected(5);
  watch.fence_over();
  watch.rank_exited(5, 137);
  ASSERT_TRUE(turn_until([&] { return told[0].doing == Doing::exited; }));
  EXPECT_EQ(told[0].exit_code, 137);
  EXPECT_EQ(told[0].has_met, true);
  EXPECT_FALSE(told[0].in_fence);
  EXPECT_EQ(watch.next_deadline(), Instant::never()) << "nobody is left to look at";
  EXPECT_FALSE(watch.ask_ras([](const Result<RasReport>&) {})) << "it has no port";
}

TEST(WatchThread, LooksOnItsOwnThreadAndTellsOnTheLoop) {
  const Child child([] {
    while (true) ::sleep(60);
  });
  io::EventLoop loop;
  io::SystemClock clock;
  std::optional<WatchResult> told;
  WatchThread thread(loop, [&](WatchResult result) { told = std::move(result); });
  ASSERT_TRUE(thread.sample(clock.now(), look_at(child.pid())));
  const Instant until = clock.now() + kDeadline;
  while (!told && clock.now() < until) loop.turn(milliseconds(20));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->standings.size(), 1u);
  EXPECT_EQ(told->standings[0].processes, 1);
}

TEST(WatchThread, WhoIsGoneIsNotTold) {
  const Child child([] {
    while (true) ::sleep(60);
  });
  io::EventLoop loop;
  io::SystemClock clock;
  bool is_told = false;
  {
    WatchThread thread(loop, [&](const WatchResult&) { is_told = true; });
    ASSERT_TRUE(thread.sample(clock.now(), look_at(child.pid())));
  }
  for (int i = 0; i < 10; ++i) loop.turn(milliseconds(10));
  EXPECT_FALSE(is_told);
}

}  // namespace
}  // namespace lockstep::runner
