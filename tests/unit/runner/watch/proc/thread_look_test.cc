// What threads are blocked on, with made-up descriptors.

#include "runner/watch/proc/thread_look.h"

#include <gtest/gtest.h>

#include <map>

namespace lockstep::runner {
namespace {

constexpr Machine kMachine = Machine::x86_64;

class FakeProcess final : public DescriptorSource {
 public:
  Descriptor descriptor(int fd) override {
    const auto found = links.find(fd);
    return found == links.end() ? Descriptor{} : parse_descriptor(found->second);
  }
  std::vector<int> epoll_targets(int) override { return targets; }
  std::vector<int> polled(std::uint64_t, std::uint64_t count) override {
    return count == 0 ? std::vector<int>{} : targets;
  }
  const TcpSocket* socket(std::uint64_t inode) override {
    const auto found = sockets.find(inode);
    return found == sockets.end() ? nullptr : &found->second;
  }
  WaitsOn kind_of(const TcpSocket& socket) override {
    return socket.state == TcpState::listens ? WaitsOn::listener : kind;
  }
  bool has_both_ends(std::uint64_t inode) override { return inode == own_pipe; }

  std::map<int, std::string> links;
  std::vector<int> targets;
  std::map<std::uint64_t, TcpSocket> sockets;
  WaitsOn kind = WaitsOn::peer;
  std::uint64_t own_pipe = 0;
};

TcpSocket tcp(TcpState state = TcpState::established) {
  TcpSocket socket;
  socket.near = {*tcp_address_from("10.0.0.5"), 40000};
  socket.far = {*tcp_address_from("10.0.0.4"), 29500};
  socket.state = state;
  return socket;
}

ThreadLook look(FakeProcess& process, long number, std::array<std::uint64_t, 6> arguments = {}) {
  return look_at_thread('S', BlockedCall{true, number, arguments}, "", kMachine, process);
}

TEST(ThreadLook, AReadIsOnItsFileOrPipe) {
  FakeProcess process;
  process.links = {{3, "/data/a.bin"}, {4, "pipe:[7]"}};
  ThreadLook found = look(process, 0, {3});
  EXPECT_EQ(found.on, WaitsOn::file);
  EXPECT_EQ(found.call, "read");
  EXPECT_EQ(found.far, "/data/a.bin");
  found = look(process, 0, {4});
  EXPECT_EQ(found.on, WaitsOn::pipe);
  EXPECT_EQ(found.inode, 7u);
  EXPECT_EQ(look(process, 0, {99}).on, WaitsOn::unknown) << "a descriptor that is gone";
}

TEST(ThreadLook, AConnectionHasBothEnds) {
  FakeProcess process;
  process.links = {{5, "socket:[1]"}, {6, "socket:[2]"}};
  process.sockets[1] = tcp();
  ThreadLook found = look(process, 45, {5});
  EXPECT_EQ(found.on, WaitsOn::peer);
  EXPECT_EQ(found.call, "recvfrom");
  EXPECT_EQ(found.far, "10.0.0.4:29500");
  EXPECT_EQ(found.near, "10.0.0.5:40000");
  EXPECT_FALSE(found.has_timeout);
  EXPECT_EQ(look(process, 47, {6}).on, WaitsOn::other) << "a Unix socket";
  process.sockets[1].state = TcpState::connecting;
  EXPECT_EQ(look(process, 42, {5}).call, "connect");
}

TEST(ThreadLook, AServerWaitsForClients) {
  FakeProcess process;
  process.links = {{5, "socket:[1]"}};
  process.sockets[1] = tcp(TcpState::listens);
  ThreadLook found = look(process, 43, {5});
  EXPECT_EQ(found.on, WaitsOn::listener);
  EXPECT_EQ(found.far, "10.0.0.5:40000");
  process.targets = {5};
  EXPECT_EQ(look(process, 7, {0x1000, 1, 0xffffffff}).on, WaitsOn::listener);
  process.sockets.clear();
  EXPECT_EQ(look(process, 288, {5}).on, WaitsOn::listener) << "its sockets are not seen";
}

TEST(ThreadLook, OfSeveralDescriptorsTheOneThatSaysMostCounts) {
  FakeProcess process;
  process.links = {{3, "anon_inode:[eventfd]"},
                   {4, "pipe:[9]"},
                   {5, "socket:[1]"},
                   {6, "socket:[2]"},
                   {7, "anon_inode:[eventpoll]"}};
  process.sockets[1] = tcp();
  process.targets = {3, 4, 5};
  ThreadLook found = look(process, 232, {7, 0, 8, 0xffffffff});
  EXPECT_EQ(found.on, WaitsOn::peer);
  EXPECT_EQ(found.call, "epoll_wait");
  EXPECT_EQ(found.far, "10.0.0.4:29500");
  process.sockets[2] = tcp();
  process.targets = {3, 4, 5, 6};
  found = look(process, 232, {7, 0, 8, 0xffffffff});
  EXPECT_EQ(found.far, "2 connections");
  EXPECT_EQ(found.near, "");
  process.sockets[2].state = TcpState::connecting;
  found = look(process, 232, {7, 0, 8, 0xffffffff});
  EXPECT_EQ(found.call, "connect") << "a connection that is not made yet";
  process.targets = {3};
  EXPECT_EQ(look(process, 232, {7, 0, 8, 0xffffffff}).on, WaitsOn::lock);
}

TEST(ThreadLook, ALoopThatItsOwnProcessWakesWaitsForThat) {
  FakeProcess process;
  process.links = {{3, "pipe:[9]"}};
  process.targets = {3};
  EXPECT_EQ(look(process, 7, {0x1000, 1, 60'000}).on, WaitsOn::pipe);
  process.own_pipe = 9;
  EXPECT_EQ(look(process, 7, {0x1000, 1, 60'000}).on, WaitsOn::lock);
  EXPECT_EQ(look(process, 0, {3}).on, WaitsOn::pipe) << "no loop: whoever reads waits for data";
}

// A debugger that has looked at a thread leaves its poll so.
TEST(ThreadLook, ACallThatGoesOnIsWhatItWas) {
  FakeProcess process;
  process.links = {{5, "socket:[1]"}};
  process.sockets[1] = tcp();
  process.targets = {5};
  const BlockedCall call{true, 219, {0x1000, 1, 60'000}};
  const auto restarted = [&](const char* channel) {
    return look_at_thread('S', call, channel, kMachine, process);
  };
  EXPECT_EQ(restarted("poll_schedule_timeout.constprop.0").on, WaitsOn::peer);
  EXPECT_EQ(restarted("poll_schedule_timeout.constprop.0").call, "poll");
  EXPECT_EQ(restarted("hrtimer_nanosleep").on, WaitsOn::timer);
  EXPECT_EQ(restarted("futex_do_wait").on, WaitsOn::lock);
  EXPECT_TRUE(restarted("futex_do_wait").has_timeout);
  EXPECT_EQ(restarted("").on, WaitsOn::unknown);
}

TEST(ThreadLook, SleepsAndLocks) {
  FakeProcess process;
  EXPECT_FALSE(look(process, 202, {0x1000, 128}).is_shared);
  EXPECT_TRUE(look(process, 202, {0x1000, 0}).is_shared);
  EXPECT_TRUE(look(process, 65, {1}).is_shared) << "a semaphore of System V";
  EXPECT_EQ(look(process, 230).on, WaitsOn::timer);
  EXPECT_TRUE(look(process, 230).has_timeout);
  EXPECT_EQ(look(process, 7, {0, 0, 500}).on, WaitsOn::timer) << "poll() of nothing";
  EXPECT_EQ(look(process, 270, {0, 0, 0, 0, 0x7fff}).on, WaitsOn::timer) << "select() of nothing";
  EXPECT_EQ(look(process, 34).on, WaitsOn::signal);
  EXPECT_EQ(look(process, 202, {1, 0, 2, 0}).on, WaitsOn::lock);
  EXPECT_FALSE(look(process, 202, {1, 0, 2, 0}).has_timeout);
  EXPECT_TRUE(look(process, 202, {1, 0, 2, 0x7fff}).has_timeout);
  EXPECT_EQ(look(process, 61).on, WaitsOn::child);
  EXPECT_EQ(look(process, 23, {5}).on, WaitsOn::unknown) << "the sets of select() are not read";
}

TEST(ThreadLook, OnlyACallOnItsDeviceIsTheGpus) {
  FakeProcess process;
  process.links = {{3, "/dev/nvidiactl"}, {4, "/dev/snd/pcm"}};
  EXPECT_EQ(look(process, 16, {3}).on, WaitsOn::gpu);
  EXPECT_EQ(look(process, 16, {4}).on, WaitsOn::file);
  EXPECT_EQ(look(process, 73, {3}).on, WaitsOn::file);
}

TEST(ThreadLook, WithoutTheCallItsWaitChannelServes) {
  FakeProcess process;
  const auto by_channel = [&](const char* channel) {
    return look_at_thread('S', std::nullopt, channel, kMachine, process);
  };
  EXPECT_EQ(by_channel("futex_wait_queue").on, WaitsOn::lock);
  EXPECT_EQ(by_channel("hrtimer_nanosleep").on, WaitsOn::timer);
  EXPECT_EQ(by_channel("anon_pipe_read").on, WaitsOn::pipe);
  EXPECT_EQ(by_channel("do_wait").on, WaitsOn::child);
  EXPECT_EQ(by_channel("inet_csk_accept").on, WaitsOn::listener);
  EXPECT_EQ(by_channel("wait_woken").on, WaitsOn::unknown);
  EXPECT_EQ(by_channel("").on, WaitsOn::unknown);
  EXPECT_EQ(look_at_thread('R', std::nullopt, "", kMachine, process).on, WaitsOn::nothing);
  EXPECT_EQ(look_at_thread('D', BlockedCall{}, "folio_wait_bit_common", kMachine, process).on,
            WaitsOn::file);
}

}  // namespace
}  // namespace lockstep::runner
