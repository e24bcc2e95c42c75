// The watch over a node's ranks, on a fake machine.

#include "runner/watch/rank_watch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::runner {
namespace {

constexpr Instant kStart{1'000'000'000'000};
constexpr int kSpawn = 50;

std::string call(long number, int first, int second = 0) {
  return fmt::format("{} {:#x} {:#x} 0x0 0x0 0x0 0x0 0x0 0x0\n", number, first, second);
}
const std::string kFutex = call(SYS_futex, 1, FUTEX_WAIT_PRIVATE);
const std::string kSharedFutex = call(SYS_futex, 1, FUTEX_WAIT);

class FakeNode {
 public:
  struct Process {
    int parent = kSpawn;
    char state = 'S';
    int ticks = 0, threads = 1;
    std::string syscall = call(SYS_read, 3);
  };
  // Its number among the ranks is 100 less.
  void put(int pid, const Process& process) const {
    const std::string folder = fmt::format("proc/{}", pid);
    const std::string stat = fmt::format(
        "{} (py) {} {} 1 1 0 -1 0 9 0 0 0 {} 0 0 0 20 0 {} 0 {} 100 12 0 0 0 0 0 0 0 0 0 0 0 0 0 "
        "17 0 0 0 0\n",
        pid, process.state, process.parent, process.ticks, process.threads, 1000 + pid);
    root_.file(folder + "/stat", stat);
    root_.file(folder + "/status", fmt::format("Name:\tpy\nNSpid:\t{}\t{}\n", pid, pid - 100));
    root_.file(folder + "/cmdline", std::string("python3\0train.py\0", 17));
    root_.file(folder + "/io", "rchar: 1\nwchar: 1\n");
    root_.file(fmt::format("{}/task/{}/stat", folder, pid), stat);
    root_.file(fmt::format("{}/task/{}/syscall", folder, pid), process.syscall);
  }
  void thread(int pid, int number, char state, const std::string& syscall) const {
    const std::string folder = fmt::format("proc/{}/task/{}", pid, number);
    root_.file(
        folder + "/stat",
        fmt::format("{} (t) {} 1 1 1 0 -1 0 9 0 0 0 0 0 0 0 20 0 2 0 99 100 12\n", number, state));
    root_.file(folder + "/syscall", syscall);
  }
  void descriptor(int pid, int fd, const std::string& link) const {
    root_.folder(fmt::format("proc/{}/fd", pid));
    root_.link(link, fmt::format("proc/{}/fd/{}", pid, fd));
  }
  void sockets(int pid, const std::string& lines) const {
    root_.file(fmt::format("proc/{}/net/tcp", pid), "heading\n" + lines);
  }
  const test::TempDir& root() const { return root_; }

 private:
  test::TempDir root_;
};

// 10.0.0.5 has port 5000, 10.0.0.4 5001.
std::string connection(const std::string& near, const std::string& far, int inode) {
  return fmt::format("0: {} {} 01 00000000:00000000 00:0 0 1000 0 {} 1\n", near, far, inode);
}
constexpr char kNear[] = "0500000A:1388", kFar[] = "0400000A:1389";

WatchLook look_at(std::vector<RankFacts> ranks) {
  WatchLook look;
  look.place = {kSpawn, -1};
  look.peers = {{"10.0.0.4", "10.0.0.5"}, 6105};
  look.ranks = std::move(ranks);
  return look;
}

RankFacts rank(int number, int pid) {
  RankFacts facts;
  facts.rank = number;
  facts.pid = pid - 100;
  return facts;
}

TEST(RankWatch, ARankIsItsTreeAndItsDescriptorsAreNamed) {
  const FakeNode node;
  node.put(101, {});
  node.descriptor(101, 3, "/data/a.bin");
  node.put(102, {101, 'S', 3, 1, kFutex});
  node.put(103, {1, 'S', 0, 1, kFutex});  // nobody's
  RankWatch watch(node.root().path());
  WatchResult result = watch.sample(kStart, look_at({rank(7, 101)}));
  ASSERT_EQ(result.standings.size(), 1u);
  EXPECT_EQ(result.standings[0].doing, Doing::starts);
  result = watch.sample(kStart + seconds(5), look_at({rank(7, 101)}));
  const RankStanding& standing = result.standings[0];
  EXPECT_EQ(standing.rank, 7);
  EXPECT_EQ(standing.processes, 2);
  EXPECT_EQ(standing.doing, Doing::reads);
  EXPECT_EQ(standing.call, "read");
  EXPECT_EQ(standing.on, "/data/a.bin");
  EXPECT_EQ(standing.pid, 1);
  EXPECT_EQ(standing.still(), seconds(5));
}

TEST(RankWatch, APeerIsFoundByItsSocket) {
  const FakeNode node;
  node.put(101, {kSpawn, 'S', 0, 1, call(SYS_recvfrom, 5)});
  node.descriptor(101, 5, "socket:[77]");
  node.sockets(101, connection(kNear, kFar, 77));
  RankWatch watch(node.root().path());
  watch.sample(kStart, look_at({rank(0, 101)}));
  const auto result = watch.sample(kStart + seconds(5), look_at({rank(0, 101)}));
  const RankStanding& standing = result.standings[0];
  EXPECT_EQ(standing.doing, Doing::waits_peer);
  EXPECT_EQ(standing.call, "recvfrom");
  EXPECT_EQ(standing.on, "10.0.0.4:5001");
  EXPECT_EQ(standing.own_end, "10.0.0.5:5000");
  EXPECT_EQ(standing.peer_sockets, 1);
}

TEST(RankWatch, ThreadsAreLookedAtOnceNothingMoves) {
  const FakeNode node;
  node.put(101, {kSpawn, 'S', 0, 2, kFutex});
  node.thread(101, 108, 'S', call(SYS_recvfrom, 5));
  node.descriptor(101, 5, "socket:[77]");
  node.sockets(101, connection(kNear, kFar, 77));
  RankWatch watch(node.root().path());
  Doing doing = Doing::starts;
  for (int second = 0; second <= 5; second += 5)
    doing = watch.sample(kStart + seconds(second), look_at({rank(0, 101)})).standings[0].doing;
  EXPECT_EQ(doing, Doing::locks);
  for (int second = 10; second <= 15; second += 5)
    doing = watch.sample(kStart + seconds(second), look_at({rank(0, 101)})).standings[0].doing;
  EXPECT_EQ(doing, Doing::waits_peer) << "another thread waits for a peer";
}

// Loops of libraries have a time-out of their own, whatever they wait for.
TEST(RankWatch, AThreadThatSleepsMayLetALockGoAndALoopMayNot) {
  const FakeNode node;
  node.put(101, {kSpawn, 'S', 0, 2, kFutex});
  node.thread(101, 108, 'S', call(SYS_epoll_pwait, 7));
  node.descriptor(101, 7, "anon_inode:[eventpoll]");
  node.descriptor(101, 8, "anon_inode:[eventfd]");
  node.root().file("proc/101/fdinfo/7", "pos:\t0\ntfd:        8 events: 19 data: 8\n");
  RankWatch watch(node.root().path());
  RankStanding last;
  const auto look_until = [&](int from, int second) {
    for (; from <= second; from += 5)
      last = watch.sample(kStart + seconds(from), look_at({rank(0, 101)})).standings[0];
  };
  look_until(0, 15);
  EXPECT_EQ(last.doing, Doing::locks);
  EXPECT_FALSE(last.has_timeout);
  node.thread(101, 108, 'S', call(SYS_clock_nanosleep, 0));
  look_until(20, 25);
  EXPECT_EQ(last.doing, Doing::locks);
  EXPECT_TRUE(last.has_timeout);
}

TEST(RankWatch, AHandlerOrAnotherProcessMayLetALockGo) {
  const FakeNode node;
  node.put(101, {kSpawn, 'S', 0, 1, kFutex});
  node.put(102, {kSpawn, 'S', 0, 1, kSharedFutex});
  const auto may_be_woken = [&](int pid) {
    RankWatch watch(node.root().path());
    RankStanding last;
    for (int second = 0; second <= 20; second += 5)
      last = watch.sample(kStart + seconds(second), look_at({rank(0, pid)})).standings[0];
    EXPECT_EQ(last.doing, Doing::locks);
    return last.has_timeout;
  };
  EXPECT_FALSE(may_be_woken(101));
  EXPECT_TRUE(may_be_woken(102)) << "a semaphore that other processes know";
  node.root().file("proc/101/status", "NSpid:\t101\t1\nSigCgt:\t0000000000002000\n");
  EXPECT_TRUE(may_be_woken(101)) << "SIGALRM is caught";
}

TEST(RankWatch, APipeWithinARankNamesItsOtherEnd) {
  const FakeNode node;
  node.put(101, {kSpawn, 'S', 3});
  node.put(102, {101, 'S', 3, 1, kFutex});
  node.descriptor(101, 3, "pipe:[9]");
  node.descriptor(102, 4, "pipe:[9]");
  RankWatch watch(node.root().path());
  WatchResult result;
  for (int second = 0; second <= 15; second += 5)
    result = watch.sample(kStart + seconds(second), look_at({rank(0, 101)}));
  EXPECT_EQ(result.standings[0].doing, Doing::reads);
  EXPECT_EQ(result.standings[0].on, "a pipe to process 2");
}

TEST(RankWatch, ACgroupsMembersAreTheRanksIfTheyDescendFromIt) {
  const FakeNode node;
  node.put(101, {});
  node.put(102, {101, 'S', 0, 1, kFutex});
  node.put(103, {kSpawn, 'S', 0, 1, kFutex});  // a shell that somebody attached
  node.root().file("cg/cgroup.procs", "101\n102\n103\n104\n");
  RankWatch watch(node.root().path());
  WatchLook look = look_at({rank(0, 101)});
  look.ranks[0].cgroup = node.root() / "cg";
  const auto result = watch.sample(kStart, look);
  EXPECT_EQ(result.standings[0].processes, 2);
}

TEST(RankWatch, AStackIsWantedOfARankThatDoesNotMove) {
  const FakeNode node;
  node.put(101, {kSpawn, 'R', 0, 1, "running\n"});
  RankWatch watch(node.root().path());
  WatchLook look = look_at({rank(3, 101)});
  look.stacks_after = seconds(60);
  WatchResult result;
  int second = 0;
  while (result.stacks_wanted.empty() && second < 100)
    result = watch.sample(kStart + seconds(second += 5), look);
  EXPECT_EQ(second, 50) << "15 s before the minute since the first look is over";
  ASSERT_EQ(result.stacks_wanted.size(), 1u);
  EXPECT_EQ(result.stacks_wanted[0].rank, 3);
  EXPECT_EQ(result.stacks_wanted[0].pid, 1);
  EXPECT_EQ(result.stacks_wanted[0].command, "python3 train.py");
  EXPECT_TRUE(result.stacks_wanted[0].is_python);
  result = watch.sample(kStart + seconds(second += 5), look);
  EXPECT_TRUE(result.stacks_wanted.empty()) << "its answer is awaited";
  watch.take_stack(3, StackTop{1, true, "MPI_Barrier", "a.py:1", {}}, kStart + seconds(second));
  result = watch.sample(kStart + seconds(second += 5), look);
  EXPECT_EQ(result.standings[0].doing, Doing::waits_peer);
  EXPECT_EQ(result.stacks_wanted.size(), 1u) << "a second one tells whether it moves";
  watch.take_stack(3, StackTop{1, true, "MPI_Barrier", "a.py:1", {}}, kStart + seconds(second));
  look.stacks_now = {3};
  result = watch.sample(kStart + seconds(second += 1), look);
  EXPECT_EQ(result.stacks_wanted.size(), 1u) << "somebody wants it now";
  watch.take_stack(3, std::nullopt, kStart + seconds(second));
  node.put(101, {kSpawn, 'T', 0, 1, "running\n"});
  look.stacks_now = {};
  watch.sample(kStart + seconds(second += 5), look);
  look.stacks_now = {3};
  result = watch.sample(kStart + seconds(second += 5), look);
  EXPECT_TRUE(result.stacks_wanted.empty()) << "a tool could wake what is stopped";
}

TEST(RankWatch, ARankThatHasEndedStaysAsItEnded) {
  const FakeNode node;
  node.put(101, {});
  RankWatch watch(node.root().path());
  watch.sample(kStart, look_at({rank(0, 101)}));
  WatchLook look = look_at({rank(0, 101)});
  look.ranks[0].lives = false;
  look.ranks[0].exit_code = 3;
  const auto result = watch.sample(kStart + seconds(5), look);
  EXPECT_EQ(result.standings[0].doing, Doing::exited);
  EXPECT_EQ(result.standings[0].exit_code, 3);
}

TEST(RankWatch, AnEmptyOrStrangeMachineIsNoHarm) {
  const FakeNode node;
  RankWatch watch(node.root().path());
  EXPECT_TRUE(watch.sample(kStart, look_at({})).standings.empty());
  EXPECT_EQ(watch.sample(kStart, look_at({rank(0, 101)})).standings.size(), 1u);
  node.root().file("proc/101/stat", "garbage");
  node.root().file("proc/102/stat", std::string(5000, ')'));
  node.root().file("proc/7x/stat", "7 (x) S 50 1 1");
  EXPECT_EQ(watch.sample(kStart + seconds(5), look_at({rank(0, 101)})).standings.size(), 1u);
  node.put(101, {});
  node.root().file("proc/101/task/101/syscall",
                   fmt::format("{} 0xffffffffffffffff 0x0 0x0 0x0 0x0 0x0\n", SYS_read));
  EXPECT_EQ(watch.sample(kStart + seconds(10), look_at({rank(0, 101)})).standings.size(), 1u);
  WatchLook look = look_at({rank(0, 101)});
  look.place.spawn_pid = -1;
  EXPECT_EQ(watch.sample(kStart + seconds(15), look).standings.size(), 1u);
}

// 5 ms for each rank are a thousandth of a cpu; here it takes far less, in a debug build too.
TEST(RankWatch, ManyRanksCostLittle) {
  constexpr int kRanks = 128, kThreads = 32;
  const FakeNode node;
  std::vector<RankFacts> ranks;
  for (int i = 0; i < kRanks; ++i) {
    node.put(1000 + i, {kSpawn, 'S', 0, kThreads, kFutex});
    for (int thread = 1; thread < kThreads; ++thread)
      node.thread(1000 + i, 10'000 + i * kThreads + thread, 'S', kFutex);
    ranks.push_back(rank(i, 1000 + i));
  }
  RankWatch watch(node.root().path());
  Duration least = Duration::max();
  for (int second = 0; second <= 30; second += 5) {
    const Duration cost = watch.sample(kStart + seconds(second), look_at(ranks)).cpu_time;
    if (second >= 15) least = std::min(least, cost);  // thread by thread
  }
  EXPECT_LT(least, kRanks * milliseconds(5)) << format_duration(least);
}

}  // namespace
}  // namespace lockstep::runner
