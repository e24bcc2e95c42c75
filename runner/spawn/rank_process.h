#pragma once
// The steps between fork and exec of one rank. They run in the child and never return. If a step
// fails, the child writes a StartFailure to `error_fd` and exits.

#include "runner/spawn/start_block.h"

namespace lockstep::spawn {

struct StartFailure {
  std::int32_t stage = 0;  // SpawnStage
  std::int32_t error = 0;  // errno
};

struct Place {
  int parent = 0;         // getpid() of the parent before the fork
  int spawn = 0;          // the pid of lockstep-spawn, whose descendants may trace the rank
  bool terminal = false;  // stdin becomes the controlling terminal
};

// Becomes the rank. `stdio`: they become fds 0, 1 and 2. `connection`: it becomes kConnectionFd;
// -1: none.
[[noreturn]] void become_rank(const MappedBlock& block, const int stdio[3], int connection,
                              int error_fd, const Place& place);

// Reports a failure, also when not even a fork succeeded.
[[noreturn]] void fail(int error_fd, SpawnStage stage);

}  // namespace lockstep::spawn
