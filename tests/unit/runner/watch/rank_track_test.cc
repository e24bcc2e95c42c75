// Since when nothing of a rank has moved, and what it does, look by look.

#include "runner/watch/rank_track.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace lockstep::runner {
namespace {

constexpr Instant kTrackStart{1'000'000'000'000};

Instant at(int second) { return kTrackStart + seconds(second); }

ThreadLook blocked(WaitsOn on, const std::string& call, const std::string& far = "") {
  ThreadLook thread;
  thread.state = 'S';
  thread.on = on;
  thread.call = call;
  thread.far = far;
  return thread;
}

ThreadLook running() {
  ThreadLook thread;
  thread.state = 'R';
  thread.on = WaitsOn::nothing;
  return thread;
}

ProcessLook process(int pid, int parent, const ThreadLook& main, std::uint64_t ticks = 0) {
  ProcessLook look;
  look.stat.pid = pid;
  look.stat.parent = parent;
  look.stat.state = main.state;
  look.stat.cpu_ticks = ticks;
  look.stat.start_ticks = static_cast<std::uint64_t>(pid);
  look.stat.threads = 1;
  look.own_pid = pid - 100;
  look.main = main;
  return look;
}

// One rank, 101, whose looks are changed from second to second.
class Follows {
 public:
  Follows() { seen.processes = {process(101, 50, blocked(WaitsOn::file, "read", "/a"))}; }

  const RankStanding& look(int second) {
    seen.taken = at(second);
    track.take(seen, facts, node);
    return track.standing();
  }
  // Looks every 5 s.
  const RankStanding& until(int second) {
    while (last + 5 <= second) look(last += 5);
    return track.standing();
  }
  ProcessLook& top() { return seen.processes[0]; }
  void spin() {
    top().main = running();
    top().stat.state = 'R';
  }
  // Of a cpu, in the 5 s before each look.
  void burn(std::uint64_t ticks = 500) { top().stat.cpu_ticks += ticks; }

  RankTrack track{4};
  RankLook seen;
  RankFacts facts{4, 1, true, 0, {}, 0, 0, false, false, {}};
  NodeFacts node;
  int last = -5;
};

TEST(RankTrack, NothingIsSaidAfterOneLook) {
  Follows rank;
  EXPECT_EQ(rank.look(0).doing, Doing::starts);
  EXPECT_EQ(rank.look(5).doing, Doing::reads);
  EXPECT_EQ(rank.track.standing().pid, 1);
  EXPECT_EQ(rank.track.standing().call, "read");
  EXPECT_EQ(rank.track.standing().on, "/a");
  EXPECT_EQ(rank.track.standing().still(), seconds(5));
}

TEST(RankTrack, ASpinningRankDoesNotMove) {
  Follows rank;
  rank.spin();
  for (int second = 0; second <= 60; second += 5) {
    rank.burn();
    rank.look(second);
  }
  EXPECT_EQ(rank.track.standing().cpu_milli, 1000);
  EXPECT_EQ(rank.track.standing().doing, Doing::computes);
  EXPECT_EQ(rank.track.standing().still(), seconds(60));
}

TEST(RankTrack, WhatMovesARank) {
  const auto still_after = [](const std::function<void(Follows&)>& change) {
    Follows rank;
    rank.seen.bytes = CallBytes{0, 0};
    rank.seen.peers = PeerTotals{};
    rank.until(20);
    change(rank);
    rank.until(25);
    return rank.track.standing().still();
  };
  EXPECT_EQ(still_after([](Follows&) {}), seconds(25));
  EXPECT_EQ(still_after([](Follows& r) { r.facts.log_bytes = 1; }), seconds(0));
  EXPECT_EQ(still_after([](Follows& r) { r.facts.connected = true; }), seconds(0));
  EXPECT_EQ(still_after([](Follows& r) { r.node.fences = 1; }), seconds(0));
  EXPECT_EQ(still_after([](Follows& r) { r.seen.bytes->read = 4096; }), seconds(0));
  EXPECT_EQ(still_after([](Follows& r) { r.seen.bytes->read = 400; }), seconds(25)) << "noise";
  EXPECT_EQ(still_after([](Follows& r) { r.seen.peers->most_moved = 1; }), seconds(0));
  EXPECT_EQ(still_after([](Follows& r) { r.seen.peers->any_opened = true; }), seconds(0));
  EXPECT_EQ(still_after([](Follows& r) { r.top().stat.minor_faults = 300; }), seconds(0));
  EXPECT_EQ(still_after([](Follows& r) { r.top().stat.minor_faults = 30; }), seconds(25));
  EXPECT_EQ(
      still_after([](Follows& r) { r.seen.processes.push_back(process(102, 101, running())); }),
      seconds(0))
      << "it started a process";
  EXPECT_EQ(still_after([](Follows& r) {
              r.track.set_versions({"", "2.20.5", ""});
              r.seen.peers->most_moved = 1000;
            }),
            seconds(25))
      << "RAS keeps its connections alive";
}

TEST(RankTrack, APauseIsAsIfItHadNotBeen) {
  Follows rank;
  rank.until(20);
  rank.look(620);
  EXPECT_EQ(rank.track.standing().still(), seconds(25));
  EXPECT_EQ(rank.track.standing().doing_for(), seconds(20));
}

TEST(RankTrack, ATracedRankIsNotJudged) {
  Follows rank;
  rank.until(20);
  rank.top().stat.state = 't';
  rank.look(25);
  EXPECT_TRUE(rank.track.standing().traced);
  EXPECT_EQ(rank.track.standing().doing, Doing::reads);
  EXPECT_EQ(rank.track.standing().still(), seconds(20));
  rank.top().stat.state = 'S';
  rank.look(30);
  EXPECT_FALSE(rank.track.standing().traced);
  EXPECT_EQ(rank.track.standing().still(), seconds(25));
}

TEST(RankTrack, AToolThatHoldsTheRankBelowItsShellIsSeen) {
  Follows rank;
  rank.top().main = blocked(WaitsOn::child, "wait");
  rank.seen.processes.push_back(process(102, 101, blocked(WaitsOn::peer, "recvmsg"), 900));
  rank.until(20);
  for (const int tracer : {0, 7}) {
    rank.seen.processes[1].stat.state = tracer == 0 ? 't' : 'T';
    rank.seen.processes[1].tracer = tracer;
    rank.until(rank.last + 60);
    EXPECT_TRUE(rank.track.standing().traced);
    EXPECT_EQ(rank.track.standing().still(), seconds(20)) << "that time is as if it had not been";
  }
}

TEST(RankTrack, StoppedAndHeldByADevice) {
  Follows rank;
  rank.look(0);
  rank.top().stat.state = rank.top().main.state = 'T';
  EXPECT_EQ(rank.look(5).doing, Doing::stopped);
  rank.top().stat.state = rank.top().main.state = 'D';
  EXPECT_EQ(rank.look(10).doing, Doing::reads) << "a read from a disk takes a moment";
  EXPECT_EQ(rank.look(15).doing, Doing::device);
  rank.burn(100);
  EXPECT_EQ(rank.look(20).doing, Doing::computes) << "between two reads it works";
}

TEST(RankTrack, AStoppedHelperDoesNotStopTheRank) {
  Follows rank;
  rank.top().main = blocked(WaitsOn::child, "wait");
  rank.top().stat.cpu_ticks = 300;
  rank.top().stat.name = "python3";
  rank.seen.processes.push_back(process(102, 101, blocked(WaitsOn::file, "execve"), 0));
  rank.seen.processes[1].stat.state = rank.seen.processes[1].main.state = 'T';
  rank.look(0);
  EXPECT_NE(rank.look(5).doing, Doing::stopped);
  rank.top().stat.name = "bash";
  EXPECT_EQ(rank.look(10).doing, Doing::stopped) << "a shell only waits for its program";
  rank.top().stat.name = "launcher";
  rank.top().stat.cpu_ticks = 1;
  rank.seen.processes[1].stat.cpu_ticks = 50;
  EXPECT_EQ(rank.look(15).doing, Doing::stopped);
}

TEST(RankTrack, WhatABlockedThreadMeans) {
  const auto doing = [](const ThreadLook& main, const std::optional<ThreadCounts>& threads) {
    Follows rank;
    rank.top().main = main;
    rank.seen.threads = threads;
    rank.look(0);
    return rank.look(5).doing;
  };
  EXPECT_EQ(doing(blocked(WaitsOn::peer, "recvmsg"), {}), Doing::waits_peer);
  EXPECT_EQ(doing(blocked(WaitsOn::timer, "nanosleep"), {}), Doing::sleeps);
  EXPECT_EQ(doing(blocked(WaitsOn::listener, "accept"), {}), Doing::serves);
  EXPECT_EQ(doing(blocked(WaitsOn::child, "wait"), {}), Doing::reads);
  EXPECT_EQ(doing(blocked(WaitsOn::lock, "futex"), {}), Doing::locks);
  ThreadLook timed = blocked(WaitsOn::lock, "futex");
  timed.has_timeout = true;
  EXPECT_EQ(doing(timed, {}), Doing::sleeps);
  ThreadCounts threads;
  threads.at_locks = 3;
  EXPECT_EQ(doing(blocked(WaitsOn::lock, "futex"), threads), Doing::locks);
  threads.at_listeners = 1;
  EXPECT_EQ(doing(blocked(WaitsOn::lock, "futex"), threads), Doing::serves);
  threads.at_peers = 1;
  EXPECT_EQ(doing(timed, threads), Doing::waits_peer) << "gloo waits in another thread";
}

TEST(RankTrack, ALockIsOneForEverOnlyIfNoThreadMayLetItGo) {
  const auto look = [](const ThreadCounts& threads) {
    Follows rank;
    rank.top().main = blocked(WaitsOn::lock, "futex");
    rank.seen.threads = threads;
    rank.until(5);
    return rank.track.standing();
  };
  ThreadCounts threads;
  threads.at_locks = 3;
  EXPECT_EQ(look(threads).doing, Doing::locks);
  EXPECT_FALSE(look(threads).has_timeout);
  threads.at_timers = 1;
  EXPECT_EQ(look(threads).doing, Doing::locks);
  EXPECT_TRUE(look(threads).has_timeout) << "one sleeps for a while";
  threads.at_timers = 0;
  threads.may_be_freed = true;
  EXPECT_TRUE(look(threads).has_timeout) << "a handler of a signal does";
  threads.may_be_freed = false;
  threads.at_store = 1;
  EXPECT_TRUE(look(threads).has_timeout) << "one hears the PMIx server, perhaps for this one";
  threads.at_others = 1;
  EXPECT_EQ(look(threads).doing, Doing::reads);
  EXPECT_EQ(look(threads).call, "") << "which another thread does";
}

TEST(RankTrack, WithItsStackALockOfTheUsersIsNoWait) {
  Follows rank;
  rank.top().main = blocked(WaitsOn::lock, "futex");
  ThreadCounts threads;
  threads.at_store = threads.at_peers = 1;
  threads.at_peer = blocked(WaitsOn::peer, "epoll_wait", "10.0.0.4:5000");
  threads.at_peer.has_timeout = true;  // gloo's loop, which waits all the time
  rank.seen.threads = threads;
  rank.until(20);
  EXPECT_EQ(rank.track.standing().doing, Doing::waits_peer);
  EXPECT_TRUE(rank.track.standing().has_timeout);
  rank.track.take_stack(StackTop{1, false, "", "cache.py:30", {}}, at(21));
  rank.until(25);
  EXPECT_EQ(rank.track.standing().doing, Doing::locks);
  EXPECT_FALSE(rank.track.standing().has_timeout) << "of the loop, not of the lock";
  rank.seen.threads->at_timers = 1;
  rank.until(30);
  EXPECT_TRUE(rank.track.standing().has_timeout);
  rank.seen.threads->at_timers = 0;
  rank.seen.threads->at_listeners = 1;
  rank.until(35);
  EXPECT_TRUE(rank.track.standing().has_timeout) << "a thread that serves may let it go";
}

TEST(RankTrack, WhatIsKnownOfASelectIsItsStack) {
  Follows rank;
  rank.top().main = blocked(WaitsOn::unknown, "select");
  rank.seen.peers = PeerTotals{};
  rank.seen.peers->sockets = 3;
  rank.until(20);
  EXPECT_EQ(rank.track.standing().doing, Doing::waits_peer);
  rank.track.take_stack(StackTop{1, false, "", "query.py:12", {}}, at(21));
  rank.until(25);
  EXPECT_EQ(rank.track.standing().doing, Doing::reads);
}

TEST(RankTrack, AMomentOfWaitingBetweenSteps) {
  Follows rank;
  rank.top().main = blocked(WaitsOn::lock, "futex");
  rank.until(5);
  EXPECT_FALSE(rank.track.standing().pauses) << "it has met nobody";
  rank.facts.connected = true;
  rank.burn(250);
  rank.until(10);
  EXPECT_EQ(rank.track.standing().doing, Doing::computes);
  EXPECT_TRUE(rank.track.standing().pauses);
  rank.spin();
  rank.burn(250);
  rank.until(15);
  EXPECT_FALSE(rank.track.standing().pauses);
}

TEST(RankTrack, APeerThatAnotherThreadWaitsForIsShown) {
  Follows rank;
  rank.top().main = blocked(WaitsOn::lock, "futex");
  ThreadCounts threads;
  threads.at_peers = 1;
  threads.at_peer = blocked(WaitsOn::peer, "epoll_wait", "10.0.0.4:5000");
  rank.seen.threads = threads;
  rank.until(5);
  EXPECT_EQ(rank.track.standing().call, "epoll_wait");
  EXPECT_EQ(rank.track.standing().on, "10.0.0.4:5000");
}

TEST(RankTrack, TheProcessThatWorksCounts) {
  Follows rank;
  rank.top().main = blocked(WaitsOn::child, "wait");
  rank.seen.processes.push_back(process(102, 101, blocked(WaitsOn::peer, "recvmsg"), 900));
  rank.seen.processes.push_back(process(103, 102, blocked(WaitsOn::pipe, "read"), 5));
  rank.until(5);
  EXPECT_EQ(rank.track.standing().doing, Doing::waits_peer) << "its shell waits for it";
  EXPECT_EQ(rank.track.standing().pid, 2);
  EXPECT_EQ(rank.track.standing().shells, 1);
  rank.seen.processes[1].main = blocked(WaitsOn::pipe, "read");
  rank.seen.processes[2].main = blocked(WaitsOn::file, "read", "/data/b.bin");
  rank.until(10);
  EXPECT_EQ(rank.track.standing().doing, Doing::reads) << "a worker reads for it";
  EXPECT_EQ(rank.track.standing().on, "/data/b.bin");
  EXPECT_EQ(rank.track.standing().pid, 3);
  rank.seen.processes[2].main = running();
  rank.seen.processes[2].stat.cpu_ticks += 480;
  rank.until(15);
  EXPECT_EQ(rank.track.standing().doing, Doing::computes) << "a worker works for it";
}

TEST(RankTrack, AStackKnowsBetterUntilTheRankMoves) {
  Follows rank;
  rank.spin();
  const auto burn_until = [&](int second) {
    while (rank.last + 5 <= second) {
      rank.burn();
      rank.look(rank.last += 5);
    }
  };
  burn_until(100);
  EXPECT_FALSE(rank.track.wants_stack(at(100), seconds(120)));
  burn_until(105);
  EXPECT_TRUE(rank.track.wants_stack(at(105), seconds(120)));
  EXPECT_FALSE(rank.track.wants_stack(at(105), seconds(0))) << "nobody asked";
  const StackTop barrier{1, true, "MPI_Barrier", "ring.py:7", {}};
  rank.track.take_stack(barrier, at(106));
  EXPECT_FALSE(rank.track.wants_stack(at(110), seconds(120)));
  burn_until(115);
  EXPECT_EQ(rank.track.standing().doing, Doing::waits_peer);
  EXPECT_EQ(rank.track.standing().within, "MPI_Barrier");
  EXPECT_EQ(rank.track.standing().at, "ring.py:7");
  EXPECT_TRUE(rank.track.standing().by_stack);
  EXPECT_TRUE(rank.track.wants_stack(at(115), seconds(120))) << "a second look";
  rank.track.take_stack(barrier, at(116));
  burn_until(220);
  EXPECT_EQ(rank.track.standing().still(), seconds(220));
  EXPECT_FALSE(rank.track.wants_stack(at(220), seconds(120)));
  EXPECT_TRUE(rank.track.wants_stack(at(225), seconds(120)));
  rank.facts.log_bytes = 10;
  burn_until(225);
  EXPECT_EQ(rank.track.standing().doing, Doing::computes);
  EXPECT_EQ(rank.track.standing().at, "");
  EXPECT_FALSE(rank.track.standing().by_stack);
  EXPECT_FALSE(rank.track.wants_stack(at(225), seconds(120)));
}

TEST(RankTrack, AStackThatDiffersIsAMove) {
  Follows rank;
  rank.spin();
  rank.until(105);
  rank.track.take_stack(StackTop{1, false, "", "eval.py:88", {}}, at(106));
  rank.until(115);
  rank.track.take_stack(StackTop{1, false, "", "eval.py:90", {}}, at(116));
  rank.until(120);
  EXPECT_EQ(rank.track.standing().still(), seconds(4));
  EXPECT_EQ(rank.track.standing().at, "eval.py:90");
}

// Two stacks every two minutes would cost a rank that computes more than all else.
TEST(RankTrack, WhoMovesByItsStackAloneIsAskedSeldomer) {
  Follows rank;
  rank.spin();
  int asked = 0, last_asked = 0, longest = 0;
  for (int second = 0; second <= 4 * 3600; second += 5) {
    rank.burn();
    rank.look(second);
    if (!rank.track.wants_stack(at(second), seconds(120))) continue;
    longest = std::max(longest, second - last_asked);
    last_asked = second;
    rank.track.take_stack(StackTop{1, false, "", "eval.py:" + std::to_string(++asked), {}},
                          at(second));
  }
  EXPECT_LE(asked, 20);
  EXPECT_GE(longest, 3600);
  rank.facts.log_bytes = 1;
  rank.look(4 * 3600 + 5);
  EXPECT_FALSE(rank.track.wants_stack(at(4 * 3600 + 105), seconds(120)));
  EXPECT_TRUE(rank.track.wants_stack(at(4 * 3600 + 110), seconds(120))) << "it moved again";
}

TEST(RankTrack, AStackInTheUsersCodeIsNoWait) {
  Follows rank;
  rank.top().main = blocked(WaitsOn::lock, "futex");
  ThreadCounts threads;
  threads.at_peers = 1;
  threads.at_peer = blocked(WaitsOn::peer, "epoll_wait", "10.0.0.4:5000");
  rank.seen.threads = threads;
  rank.until(20);
  EXPECT_EQ(rank.track.standing().doing, Doing::waits_peer);
  rank.track.take_stack(StackTop{1, false, "", "train.py:50", {}}, at(21));
  rank.until(25);
  EXPECT_EQ(rank.track.standing().doing, Doing::locks) << "a lock of Python's";
  EXPECT_EQ(rank.track.standing().on, "");
  rank.track.take_stack(StackTop{99, true, "MPI_Init", "x.py:1", {}}, at(26));
  rank.until(30);
  EXPECT_FALSE(rank.track.standing().by_stack) << "it was of another process";
}

TEST(RankTrack, StoppedHeldAndEndedRanksAreLeftAlone) {
  Follows rank;
  rank.until(115);
  EXPECT_TRUE(rank.track.wants_stack(at(115), seconds(120)));
  EXPECT_TRUE(rank.track.wants_close_look(at(115)));
  rank.top().stat.state = rank.top().main.state = 'T';
  rank.until(120);
  EXPECT_FALSE(rank.track.wants_stack(at(120), seconds(120)));
  rank.facts.lives = false;
  rank.facts.exit_code = 137;
  rank.look(125);
  EXPECT_EQ(rank.track.standing().doing, Doing::exited);
  EXPECT_EQ(rank.track.standing().exit_code, 137);
  EXPECT_FALSE(rank.track.wants_stack(at(900), seconds(120)));
  EXPECT_FALSE(rank.track.wants_close_look(at(900)));
  rank.look(150);
  EXPECT_EQ(rank.track.standing().still(), seconds(25)) << "since it has ended";
}

TEST(RankTrack, ARankHasMetAtItsServerItsStoreOrAPeer) {
  const auto met = [](const std::function<void(Follows&)>& change) {
    Follows rank;
    rank.node.meets_at_pmix = true;
    rank.look(0);
    change(rank);
    rank.look(5);
    return rank.track.standing().has_met;
  };
  EXPECT_EQ(met([](Follows&) {}), false);
  EXPECT_EQ(met([](Follows& r) { r.facts.connected = true; }), true);
  EXPECT_EQ(met([](Follows& r) { r.seen.at_store = true; }), true);
  EXPECT_EQ(met([](Follows& r) {
              r.seen.peers = PeerTotals{};
              r.seen.peers->sockets = 1;
            }),
            true);
  EXPECT_EQ(met([](Follows& r) { r.node.meets_at_pmix = false; }), false) << "what was known stays";
}

TEST(RankTrack, CountsMoveARankWhenTheyDiffer) {
  Follows rank;
  rank.until(20);
  rank.track.take_counts({{"ab", "AllReduce", 7}}, at(20));
  rank.until(40);
  EXPECT_EQ(rank.track.standing().still(), seconds(20));
  rank.track.take_counts({{"ab", "AllReduce", 7}}, at(40));
  EXPECT_EQ(rank.track.standing().counts_since, at(20));
  EXPECT_EQ(rank.track.standing().counted, at(40));
  rank.track.take_counts({{"ab", "AllReduce", 6}}, at(30));
  EXPECT_EQ(rank.track.standing().collectives[0].count, 7) << "an older answer";
  rank.track.take_counts({{"ab", "AllReduce", 8}}, at(45));
  rank.until(45);
  EXPECT_EQ(rank.track.standing().still(), seconds(0));
}

TEST(RankTrack, WhatMaySlowARank) {
  Follows rank;
  rank.seen.queued = seconds(1);
  rank.seen.throttled = seconds(2);
  rank.look(0);
  rank.seen.queued = seconds(2);
  rank.seen.throttled = seconds(3);
  rank.seen.cpu_mhz = 1200;
  rank.seen.cpu_mhz_at_most = 3600;
  rank.top().stat.major_faults = 9;
  rank.top().stat.disk_wait_ticks = 100;
  const Hindrances found = rank.look(5).hindrances;
  EXPECT_EQ(found.queued_milli, 200);
  EXPECT_EQ(found.throttled_milli, 200);
  EXPECT_EQ(found.disk_wait_milli, 200);
  EXPECT_EQ(found.major_faults, 9);
  EXPECT_EQ(found.cpu_mhz, 1200);
  rank.seen.throttled = std::nullopt;
  rank.seen.cpu_mhz = 0;
  EXPECT_EQ(rank.look(10).hindrances.cpu_mhz, 1200) << "it is read seldom";
}

TEST(RankTrack, ARankThatIsNotSeenIsNotSaidToBeStill) {
  Follows rank;
  rank.until(20);
  rank.seen.processes.clear();
  rank.until(60);
  EXPECT_EQ(rank.track.standing().still(), seconds(0));
}

}  // namespace
}  // namespace lockstep::runner
