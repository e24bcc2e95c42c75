#pragma once
// The system calls in which a thread can be blocked for long, by the number that
// /proc/PID/syscall shows: their names, which argument is the descriptor, and whether they end by
// themselves. Pure; numbers of x86_64 and aarch64 (asm/unistd.h of both).

#include <array>
#include <cstdint>
#include <string_view>

namespace lockstep::runner {

enum class CallKind {
  reads,   // read, write and their like: on a file, a pipe, a terminal or a socket
  socket,  // a call on a socket: connect, send, recv
  accepts,
  polls,    // poll, select, epoll_wait: on several descriptors
  sleeps,   // waits only for a timer
  futex,    // waits for a lock or a condition
  child,    // waits for a process to end
  control,  // ioctl
  signal,   // the call waits for a signal
  file,     // opens, closes, syncs or changes files
  other,
};

enum class Machine { x86_64, aarch64, other };
// The one that this program was built for, as are its ranks.
Machine this_machine();

// The form in which a call has its time-out.
enum class TimeoutForm {
  none,          // the call does not show its time-out
  pointer,       // a pointer to a time; 0: it waits for ever
  milliseconds,  // an int; negative: it waits for ever
  always,        // it always ends
};

struct SystemCall {
  std::string_view name;
  CallKind kind = CallKind::other;
  int descriptor = -1;  // the argument, from 0; -1: none
  int timeout = -1;     // the argument's index; -1: none
  TimeoutForm form = TimeoutForm::none;
};
// Finds a system call; nullptr: the table does not have it.
const SystemCall* system_call(Machine machine, long number);
// True for restart_syscall: a call with a time-out continues under this name after a stop.
bool is_restart(Machine machine, long number);
// The number of poll; -1: the machine does not have it.
long poll_number(Machine machine);
// Whether this call, with these arguments, ends by itself. A futex that is only woken does not.
bool ends_by_itself(const SystemCall& call, const std::array<std::uint64_t, 6>& arguments);
// Whether only threads of its own process can wake this futex. A semaphore of System V counts as
// shared, and so does a futex whose arguments do not mark it as private.
bool is_private(const SystemCall& call, const std::array<std::uint64_t, 6>& arguments);

}  // namespace lockstep::runner
