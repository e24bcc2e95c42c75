#pragma once
// Reads the texts of /proc/PID/{stat,status,syscall,wchan,schedstat,io,fdinfo} and of a cgroup's
// cpu.stat for a process that may be stuck. Pure; formats: proc(5), cgroups(7). The texts come from
// the kernel, but the processes choose the names in them.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace lockstep::runner {

// The content of /proc/PID/stat, of a process or a thread.
struct ThreadStat {
  int pid = 0, parent = 0;
  char state = '?';  // R S D T t Z X I
  std::string name;  // 15 bytes of its own choice
  std::uint64_t minor_faults = 0, major_faults = 0;
  std::uint64_t cpu_ticks = 0;  // without its children
  int threads = 0;
  std::uint64_t start_ticks = 0;  // in ticks since the boot: with the pid, the process's identity
  int cpu = -1;                   // the cpu on which it ran last
  std::uint64_t disk_wait_ticks = 0;  // 0 where the kernel does not count them
  friend bool operator==(const ThreadStat&, const ThreadStat&) = default;
};
// Reads a line of a thread; nullopt: the text has another form.
std::optional<ThreadStat> parse_thread_stat(std::string_view text);

// The pid of the debugger or profiler that traces the process; 0: none.
int parse_tracer(std::string_view status);
// True if the process catches a signal of a timer or one that is left to users: SIGALRM and the
// like, SIGUSR1, SIGUSR2, SIGIO, a real-time one. Its handler may continue while all threads are
// blocked. Signals that libraries catch by themselves do not count: SIGINT, SIGTERM, SIGCHLD,
// SIGHUP (UCX).
bool catches_wakeups(std::string_view status);

// The system call that a thread is in, from /proc/PID/syscall. If `in_call` is false, it runs or is
// blocked by something else, such as a page fault.
struct BlockedCall {
  bool in_call = false;
  long number = -1;
  std::array<std::uint64_t, 6> arguments{};
  friend bool operator==(const BlockedCall&, const BlockedCall&) = default;
};
std::optional<BlockedCall> parse_blocked_call(std::string_view text);

// The kernel function in which a thread sleeps; "": it does not sleep, or the kernel hides it.
std::string parse_wait_channel(std::string_view text);

// How long a thread was ready to run and waited for a cpu: the second number of schedstat.
std::optional<Duration> parse_queued(std::string_view schedstat);

// Bytes of read- and write-like calls of a process: rchar and wchar of its `io`.
struct CallBytes {
  std::uint64_t read = 0, written = 0;
};
std::optional<CallBytes> parse_call_bytes(std::string_view io);

// How long a cgroup's cpu quota held its threads: throttled_usec (v2) or throttled_time (v1).
std::optional<Duration> parse_throttled(std::string_view cpu_stat);

// The descriptors that an epoll descriptor watches, from its fdinfo; `most` of them.
std::vector<int> parse_epoll_targets(std::string_view fdinfo, std::size_t most);

}  // namespace lockstep::runner
