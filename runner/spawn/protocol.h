#pragma once
// The protocol between a runner and lockstep-spawn: one SOCK_SEQPACKET unix socket, inherited by
// lockstep-spawn as fd 3, one message per packet, little-endian fixed headers. lockstep-spawn is
// static and knows no protobuf, no NSS and no names: only numeric ids. Large argument blocks
// travel in a sealed memfd passed with the packet.
//
// runner -> spawn
//   start    header{type, id} + StartHeader; ancillary fds: [memfd of the argument block, stdin, stdout, stderr]
//   signal   header{type, id (or kAll)} + int32 signal
//   kill_all header{type}: SIGKILL to every descendant, repeated until none is left
//   quit     header{type}: kill_all, then exit 0
// spawn -> runner
//   started  header{type, id} + int32 pid
//   failed   header{type, id} + int32 errno + int32 stage (SpawnStage)
//   exited   header{type, id} + int32 wait status
//   empty    header{type}: answer to kill_all: no descendant is left
// When the socket closes, lockstep-spawn kills every descendant and exits. It is a child subreaper, so
// double-forked grandchildren come back to it; each rank has PR_SET_PDEATHSIG SIGKILL.

#include <cstdint>

namespace lockstep::spawn {

inline constexpr int kSocketFd = 3;
inline constexpr std::int32_t kAll = -1;
inline constexpr std::uint32_t kMagic = 0x4c535031;  // "LSP1"

enum class Type : std::uint32_t {
  start = 1, signal = 2, kill_all = 3, quit = 4,
  started = 11, failed = 12, exited = 13, empty = 14,
};

// Where a start failed; the runner turns ENOENT at `exec` into 127, EACCES/ENOEXEC at `exec` into 126.
enum class SpawnStage : std::int32_t { fork = 1, chdir, ids, rlimit, affinity, cgroup, stdio, exec };

struct Header {
  std::uint32_t magic = kMagic;
  Type type{};
  std::int32_t id = 0;
  std::int32_t value = 0;   // pid, signal, wait status or errno
  std::int32_t stage = 0;   // SpawnStage, in `failed`
};

// The argument block: StartBlock, then the strings it counts, each NUL-terminated, in this order:
// program (absolute, or a bare name to look up in `path`), path, cwd, argv…, envp…, cgroup.procs
// files…; then the numeric tables: gids (uint32), cpus (int32), rlimits (RlimitEntry).
struct StartBlock {
  std::uint32_t argc = 0, envc = 0, cgroups = 0, gids = 0, cpus = 0, rlimits = 0;
  std::uint32_t uid = 0, gid = 0;
  std::uint32_t set_ids = 0;   // 0 = keep the caller's ids
  std::uint32_t strings_bytes = 0;
};
struct RlimitEntry { std::uint32_t resource = 0; std::uint32_t pad = 0; std::uint64_t soft = 0, hard = 0; };

}  // namespace lockstep::spawn
