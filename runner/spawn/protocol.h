#pragma once
// The protocol between a runner and lockstep-spawn. It uses one SOCK_SEQPACKET unix socket, which
// lockstep-spawn inherits as fd 3 or, in a container, connects to. Each packet is one Header, in
// host byte order (both ends are on one machine). lockstep-spawn is linked statically and uses no
// protobuf and no NSS: it gets numeric ids, no names. An argument block travels in a sealed memfd
// that is passed with the packet.
//
// runner -> spawn
//   start    {id, value = flags}; ancillary fds: [memfd of the argument block, stdin,
//            stdout, stderr], and maybe [connection], which the rank has as kConnectionFd; it
//            inherits no other
//   signal   {id or kAll, value = signal}: to the process group of that rank, or of every live
//            rank; of a kept program to the foreground group of its terminal, else to its own group
//   warn     {value = signal}: to each process in the group of a live rank that handles the signal
//   end      {id}: SIGKILL to a kept program and to all that it started, until none is left
//   kill_all {}: SIGKILL to every descendant, repeated until none is left
//   quit     {}: kill_all, then exit 0
// spawn -> runner
//   started  {id, value = pid}: exec succeeded
//   failed   {id, value = errno, stage = SpawnStage}: the rank never ran
//   exited   {id, value = wait status, cpu_us, largest_kib}; of a kept program when nothing of it
//            is left
//   empty    {}: the answer to kill_all: no descendant is left
// When the socket closes, lockstep-spawn kills every descendant and exits. It is a child subreaper,
// so orphaned descendants become its children; each rank has PR_SET_PDEATHSIG SIGKILL. Each names
// lockstep-spawn with PR_SET_PTRACER, so that where Yama's ptrace_scope is 1 a kept program may
// trace it; the mark is not inherited by a rank's children.
//
// A kept program runs below a keeper (keeper.h), and is not a rank: `signal` and `warn` to kAll
// leave it out.

#include <cstdint>

namespace lockstep::spawn {

inline constexpr int kSocketFd = 3;
inline constexpr std::int32_t kAll = -1;
inline constexpr std::uint32_t kMagic = 0x4c535031;  // "LSP1"
inline constexpr int kStartFds = 4;  // the descriptors of a start: memfd, stdin, stdout, stderr
inline constexpr int kMaxFds = kStartFds + 1;  // the start's descriptors and the connection
// Scripts use descriptors up to 9 by number; shells take free ones from 10 upwards.
inline constexpr int kConnectionFd = 20;
inline constexpr std::uint32_t kMaxBlockBytes = 64u << 20;

// Flags of `start`.
inline constexpr std::int32_t kKept = 1;      // the program runs below a keeper
inline constexpr std::int32_t kTerminal = 2;  // stdin becomes the controlling terminal

enum class Type : std::uint32_t {
  start = 1,
  signal = 2,
  kill_all = 3,
  quit = 4,
  warn = 5,
  end = 6,
  started = 11,
  failed = 12,
  exited = 13,
  empty = 14,
};

// The step in which a start failed; the runner turns ENOENT at `exec` into 127, EACCES/ENOEXEC at
// `exec` into 126.
enum class SpawnStage : std::int32_t {
  fork = 1,
  chdir,
  ids,
  rlimit,
  affinity,
  cgroup,
  stdio,
  exec
};

struct Header {
  std::uint32_t magic = kMagic;
  Type type{};
  std::int32_t id = 0;
  std::int32_t value = 0;  // flags, pid, signal, wait status or errno
  std::int32_t stage = 0;  // SpawnStage, in `failed`
  // For `exited`: cpu time, and the most resident memory of one process, as wait4(2) has them: of
  // the rank and of the descendants that were waited for.
  std::uint32_t largest_kib = 0;
  std::uint64_t cpu_us = 0;
};

// The argument block: StartBlock, then the numeric tables (gids: uint32, cpus: int32, padding to 8
// bytes, rlimits: RlimitEntry), then the strings, each NUL-terminated, in this order: program
// (a path, or a bare name to look up in `path`), path, cwd, argv…, envp…, cgroup.procs files….
struct StartBlock {
  std::uint32_t argc = 0, envc = 0, cgroups = 0, gids = 0, cpus = 0, rlimits = 0;
  std::uint32_t uid = 0, gid = 0;
  std::uint32_t set_ids = 0;  // 0 = keep the caller's ids
  std::uint32_t strings_bytes = 0;
};

// A limit to set. `at_most` = 1: a value above the current hard limit is lowered to it instead of
// failing.
struct RlimitEntry {
  std::uint32_t resource = 0, at_most = 0;
  std::uint64_t soft = 0, hard = 0;
};

}  // namespace lockstep::spawn
