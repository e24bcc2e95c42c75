#include "runner/watch/proc/system_calls.h"

namespace lockstep::runner {
namespace {

constexpr int kNone = -1;  // the machine has no such call, or the call no such argument

struct CallRow {
  long x86_64, aarch64;
  SystemCall call;
};

constexpr CallRow kCalls[] = {
    {0, 63, {"read", CallKind::reads, 0}},
    {1, 64, {"write", CallKind::reads, 0}},
    {17, 67, {"pread", CallKind::reads, 0}},
    {18, 68, {"pwrite", CallKind::reads, 0}},
    {19, 65, {"readv", CallKind::reads, 0}},
    {20, 66, {"writev", CallKind::reads, 0}},
    {295, 69, {"preadv", CallKind::reads, 0}},
    {296, 70, {"pwritev", CallKind::reads, 0}},
    {40, 71, {"sendfile", CallKind::reads, 1}},
    {275, 76, {"splice", CallKind::reads, 0}},
    {276, 77, {"tee", CallKind::reads, 0}},
    {326, 285, {"copy_file_range", CallKind::reads, 0}},
    {78, kNone, {"getdents", CallKind::file, 0}},
    {217, 61, {"getdents", CallKind::file, 0}},

    {42, 203, {"connect", CallKind::socket, 0}},
    {44, 206, {"sendto", CallKind::socket, 0}},
    {45, 207, {"recvfrom", CallKind::socket, 0}},
    {46, 211, {"sendmsg", CallKind::socket, 0}},
    {47, 212, {"recvmsg", CallKind::socket, 0}},
    {299, 243, {"recvmmsg", CallKind::socket, 0, 4, TimeoutForm::pointer}},
    {307, 269, {"sendmmsg", CallKind::socket, 0}},
    {43, 202, {"accept", CallKind::accepts, 0}},
    {288, 242, {"accept", CallKind::accepts, 0}},

    {7, kNone, {"poll", CallKind::polls, kNone, 2, TimeoutForm::milliseconds}},
    {271, 73, {"ppoll", CallKind::polls, kNone, 2, TimeoutForm::pointer}},
    {23, kNone, {"select", CallKind::polls, kNone, 4, TimeoutForm::pointer}},
    {270, 72, {"pselect", CallKind::polls, kNone, 4, TimeoutForm::pointer}},
    {232, kNone, {"epoll_wait", CallKind::polls, 0, 3, TimeoutForm::milliseconds}},
    {281, 22, {"epoll_wait", CallKind::polls, 0, 3, TimeoutForm::milliseconds}},
    {441, 441, {"epoll_wait", CallKind::polls, 0, 3, TimeoutForm::pointer}},

    {35, 101, {"nanosleep", CallKind::sleeps, kNone, kNone, TimeoutForm::always}},
    {230, 115, {"nanosleep", CallKind::sleeps, kNone, kNone, TimeoutForm::always}},

    {202, 98, {"futex", CallKind::futex, kNone, 3, TimeoutForm::pointer}},
    {449, 449, {"futex", CallKind::futex, kNone, 3, TimeoutForm::pointer}},

    {61, 260, {"wait", CallKind::child}},
    {247, 95, {"wait", CallKind::child}},

    {16, 29, {"ioctl", CallKind::control, 0}},

    {34, kNone, {"pause", CallKind::signal}},
    {130, 133, {"sigsuspend", CallKind::signal}},
    {128, 137, {"sigtimedwait", CallKind::signal, kNone, 2, TimeoutForm::pointer}},

    {2, kNone, {"open", CallKind::file}},
    {257, 56, {"open", CallKind::file}},
    {437, 437, {"open", CallKind::file}},
    {3, 57, {"close", CallKind::file, 0}},
    {4, kNone, {"stat", CallKind::file}},
    {5, 80, {"stat", CallKind::file, 0}},
    {6, kNone, {"stat", CallKind::file}},
    {262, 79, {"stat", CallKind::file}},
    {332, 291, {"stat", CallKind::file}},
    {21, kNone, {"access", CallKind::file}},
    {269, 48, {"access", CallKind::file}},
    {26, 227, {"msync", CallKind::file}},
    {72, 25, {"fcntl", CallKind::file, 0}},  // fcntl waits for a lock on a file
    {73, 32, {"flock", CallKind::file, 0}},
    {74, 82, {"fsync", CallKind::file, 0}},
    {75, 83, {"fdatasync", CallKind::file, 0}},
    {162, 81, {"sync", CallKind::file}},
    {306, 267, {"syncfs", CallKind::file, 0}},
    {77, 46, {"ftruncate", CallKind::file, 0}},
    {285, 47, {"fallocate", CallKind::file, 0}},
    {82, kNone, {"rename", CallKind::file}},
    {264, 38, {"rename", CallKind::file}},
    {316, 276, {"rename", CallKind::file}},
    {83, kNone, {"mkdir", CallKind::file}},
    {258, 34, {"mkdir", CallKind::file}},
    {87, kNone, {"unlink", CallKind::file}},
    {263, 35, {"unlink", CallKind::file}},
    {59, 221, {"execve", CallKind::file}},
    {165, 40, {"mount", CallKind::file}},

    {9, 222, {"mmap", CallKind::other}},
    {11, 215, {"munmap", CallKind::other}},
    {24, 124, {"sched_yield", CallKind::other, kNone, kNone, TimeoutForm::always}},
    {56, 220, {"clone", CallKind::other}},
    {57, kNone, {"fork", CallKind::other}},
    {58, kNone, {"vfork", CallKind::child}},
    {60, 93, {"exit", CallKind::other}},
    {231, 94, {"exit", CallKind::other}},
    {65, 193, {"semop", CallKind::futex}},
    {220, 192, {"semop", CallKind::futex, kNone, 3, TimeoutForm::pointer}},
    {70, 188, {"msgrcv", CallKind::reads}},
    {243, 183, {"mq_receive", CallKind::reads, 0, 4, TimeoutForm::pointer}},
    {208, 4, {"io_getevents", CallKind::reads, kNone, 4, TimeoutForm::pointer}},
    {333, 292, {"io_getevents", CallKind::reads, kNone, 4, TimeoutForm::pointer}},
    {426, 426, {"io_uring_enter", CallKind::reads, 0}},
    {318, 278, {"getrandom", CallKind::other}},
};

}  // namespace

Machine this_machine() {
#if defined(__x86_64__)
  return Machine::x86_64;
#elif defined(__aarch64__)
  return Machine::aarch64;
#else
  return Machine::other;
#endif
}

const SystemCall* system_call(Machine machine, long number) {
  if (machine == Machine::other || number < 0) return nullptr;
  for (const CallRow& row : kCalls)
    if ((machine == Machine::x86_64 ? row.x86_64 : row.aarch64) == number) return &row.call;
  return nullptr;
}

bool is_restart(Machine machine, long number) {
  switch (machine) {
    case Machine::x86_64: return number == 219;
    case Machine::aarch64: return number == 128;
    case Machine::other: return false;
  }
  return false;
}

long poll_number(Machine machine) { return machine == Machine::x86_64 ? 7 : -1; }

bool is_private(const SystemCall& call, const std::array<std::uint64_t, 6>& arguments) {
  constexpr std::uint64_t kPrivate = 128;  // FUTEX_PRIVATE_FLAG of linux/futex.h
  return call.name == "futex" && (arguments[1] & kPrivate) != 0;
}

bool ends_by_itself(const SystemCall& call, const std::array<std::uint64_t, 6>& arguments) {
  switch (call.form) {
    case TimeoutForm::none: return false;
    case TimeoutForm::always: return true;
    case TimeoutForm::pointer: return arguments[static_cast<std::size_t>(call.timeout)] != 0;
    case TimeoutForm::milliseconds:
      return static_cast<std::int32_t>(arguments[static_cast<std::size_t>(call.timeout)]) >= 0;
  }
  return false;
}

}  // namespace lockstep::runner
