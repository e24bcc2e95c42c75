// What the texts of /proc say of processes that may be stuck, and the system calls by number.

#include "runner/watch/proc/proc_texts.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "runner/watch/proc/descriptor.h"
#include "runner/watch/proc/system_calls.h"

namespace lockstep::runner {
namespace {

TEST(ProcTexts, StatIsReadWhateverTheName) {
  const auto stat = parse_thread_stat(
      "17 (py) D (x) 3) S 4 17 17 0 -1 4194304 90 1 7 2 30 12 1 2 20 0 5 0 4711 100 12 "
      "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 6 0 0 33 0 0 0 0\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 17);
  EXPECT_EQ(stat->parent, 4);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->minor_faults, 90u);
  EXPECT_EQ(stat->major_faults, 7u);
  EXPECT_EQ(stat->cpu_ticks, 42u) << "without its children";
  EXPECT_EQ(stat->threads, 5);
  EXPECT_EQ(stat->start_ticks, 4711u);
  EXPECT_EQ(stat->cpu, 6);
  EXPECT_EQ(stat->disk_wait_ticks, 33u);
}

TEST(ProcTexts, AnOldKernelsStatEndsEarlier) {
  const auto stat = parse_thread_stat("17 (x) R 4 17 17 0 -1 0 9 0 0 0 3 1 1 2 20 0 1 0 47 100 12");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->cpu, -1);
  EXPECT_EQ(stat->disk_wait_ticks, 0u);
}

TEST(ProcTexts, WhatIsNoStatIsNone) {
  for (const char* bad : {"", "17", "17 (x", ") (", "17 (x)", "17 (x) SS 1", "x (x) S 1 1 1",
                          "17 (x) S 4 17 17 0 -1 0 9 0 0 0 z 1 1 2 20 0 1 0 47 100 12",
                          "17 (x) S 4 17 17 0 -1 0 9 0 0 0 3"})
    EXPECT_FALSE(parse_thread_stat(bad)) << bad;
}

TEST(ProcTexts, ASystemCallHasItsArguments) {
  const auto call = parse_blocked_call("0 0x3 0x7f13 0x20000 0x0 0xffffffff 0x0 0x7fff 0x7f13\n");
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->in_call);
  EXPECT_EQ(call->number, 0);
  EXPECT_EQ(call->arguments[0], 3u);
  EXPECT_EQ(call->arguments[4], 0xffffffffu);
  EXPECT_FALSE(parse_blocked_call("running\n")->in_call);
  EXPECT_FALSE(parse_blocked_call("-1 0x7ffe 0x7f00\n")->in_call);
  for (const char* bad : {"", "x", "7", "7 0x1", "7 1 2 3 4 5 6 7 8", "7 0xz 0 0 0 0 0"})
    EXPECT_FALSE(parse_blocked_call(bad)) << bad;
}

TEST(ProcTexts, OtherFiles) {
  EXPECT_EQ(parse_tracer("Name:\tx\nTracerPid:\t41\nUid:\t0\n"), 41);
  EXPECT_EQ(parse_tracer("Name:\tTracerPid: 3\n"), 0);
  for (const char* caught : {"0000000000002000", "0000000000000200", "0000000200000000"})
    EXPECT_TRUE(catches_wakeups(std::string("Name:\tx\nSigCgt:\t") + caught + "\n")) << caught;
  for (const char* not_caught : {"0000000180014003", "0000000000000000", "x", ""})
    EXPECT_FALSE(catches_wakeups(std::string("SigCgt:\t") + not_caught + "\n")) << not_caught;
  EXPECT_FALSE(catches_wakeups("SigIgn:\t0000000000002000\n"));
  EXPECT_EQ(parse_wait_channel("futex_wait_queue"), "futex_wait_queue");
  EXPECT_EQ(parse_wait_channel("0"), "");
  EXPECT_EQ(parse_wait_channel("a\x1b[31m"), "");
  EXPECT_EQ(parse_queued("162142 2724683 2\n"), Duration(2'724'683));
  EXPECT_EQ(parse_queued("162142\n"), std::nullopt);
  const auto bytes = parse_call_bytes("rchar: 12\nwchar: 34\nsyscr: 5\nread_bytes: 4096\n");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->read, 12u);
  EXPECT_EQ(bytes->written, 34u);
  EXPECT_FALSE(parse_call_bytes("rchar: 12\n"));
  EXPECT_EQ(parse_throttled("usage_usec 9\nthrottled_usec 1500\n"), Duration(1'500'000));
  EXPECT_EQ(parse_throttled("nr_periods 2\nthrottled_time 700\n"), Duration(700));
  EXPECT_EQ(parse_throttled("usage_usec 9\n"), std::nullopt);
  EXPECT_EQ(parse_epoll_targets("pos:\t0\ntfd:       12 events:  19 data: 1\ntfd: 7 e\n", 8),
            (std::vector<int>{12, 7}));
  EXPECT_EQ(parse_epoll_targets("tfd: 1 e\ntfd: 2 e\ntfd: 3 e\n", 2).size(), 2u);
}

TEST(ProcTexts, Descriptors) {
  EXPECT_EQ(parse_descriptor("socket:[17]"), (Descriptor{DescriptorKind::socket, 17, "a socket"}));
  EXPECT_EQ(parse_descriptor("pipe:[4]").inode, 4u);
  EXPECT_EQ(parse_descriptor("pipe:[").inode, 0u);
  EXPECT_EQ(parse_descriptor("anon_inode:[eventpoll]").kind, DescriptorKind::epoll);
  EXPECT_EQ(parse_descriptor("anon_inode:[io_uring]").kind, DescriptorKind::unknown);
  EXPECT_EQ(parse_descriptor("/dev/nvidia0").kind, DescriptorKind::gpu);
  EXPECT_EQ(parse_descriptor("/dev/pts/3").kind, DescriptorKind::terminal);
  EXPECT_EQ(parse_descriptor("/data/a.bin (deleted)").text, "/data/a.bin (deleted)");
  EXPECT_EQ(parse_descriptor("/a\x1b[2J").text.find('\x1b'), std::string::npos);
  EXPECT_LE(parse_descriptor("/" + std::string(4000, 'a')).text.size(), 256u);
}

TEST(SystemCalls, NumbersAreThoseOfThisMachine) {
  const Machine here = this_machine();
  if (here == Machine::other) return;  // nothing is named there
  const auto name = [&](long number) {
    const SystemCall* const call = system_call(here, number);
    return call == nullptr ? std::string("?") : std::string(call->name);
  };
  EXPECT_EQ(name(SYS_read), "read");
  EXPECT_EQ(name(SYS_pread64), "pread");
  EXPECT_EQ(name(SYS_connect), "connect");
  EXPECT_EQ(name(SYS_accept4), "accept");
  EXPECT_EQ(name(SYS_recvfrom), "recvfrom");
  EXPECT_EQ(name(SYS_recvmsg), "recvmsg");
  EXPECT_EQ(name(SYS_sendmsg), "sendmsg");
  EXPECT_EQ(name(SYS_ppoll), "ppoll");
  EXPECT_EQ(name(SYS_pselect6), "pselect");
  EXPECT_EQ(name(SYS_epoll_pwait), "epoll_wait");
  EXPECT_EQ(name(SYS_futex), "futex");
  EXPECT_EQ(name(SYS_nanosleep), "nanosleep");
  EXPECT_EQ(name(SYS_clock_nanosleep), "nanosleep");
  EXPECT_EQ(name(SYS_wait4), "wait");
  EXPECT_EQ(name(SYS_waitid), "wait");
  EXPECT_EQ(name(SYS_ioctl), "ioctl");
  EXPECT_EQ(name(SYS_flock), "flock");
  EXPECT_EQ(name(SYS_fsync), "fsync");
  EXPECT_EQ(name(SYS_openat), "open");
  EXPECT_EQ(name(SYS_rt_sigtimedwait), "sigtimedwait");
  EXPECT_EQ(name(SYS_semtimedop), "semop");
  EXPECT_EQ(name(SYS_getdents64), "getdents");
  EXPECT_EQ(name(SYS_execve), "execve");
  EXPECT_EQ(system_call(here, -1), nullptr);
  EXPECT_EQ(system_call(here, 100'000), nullptr);
  EXPECT_EQ(system_call(Machine::other, 0), nullptr);
}

TEST(SystemCalls, ATimeoutIsAPointerOrMilliseconds) {
  const SystemCall* const futex = system_call(Machine::x86_64, 202);
  ASSERT_NE(futex, nullptr);
  EXPECT_FALSE(ends_by_itself(*futex, {1, 0, 2, 0, 0, 0}));
  EXPECT_TRUE(ends_by_itself(*futex, {1, 0, 2, 0x7fff, 0, 0}));
  const SystemCall* const poll = system_call(Machine::x86_64, 7);
  EXPECT_FALSE(ends_by_itself(*poll, {1, 1, 0xffffffff, 0, 0, 0})) << "-1 as an int";
  EXPECT_TRUE(ends_by_itself(*poll, {1, 1, 500, 0, 0, 0}));
  EXPECT_TRUE(ends_by_itself(*system_call(Machine::aarch64, 101), {}));
  EXPECT_FALSE(ends_by_itself(*system_call(Machine::aarch64, 63), {}));
}

}  // namespace
}  // namespace lockstep::runner
