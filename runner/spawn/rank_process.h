#pragma once
// What happens between fork and exec of one rank. Runs in the child; it never returns. The first
// thing that fails is written to `error_fd` as a StartFailure, and the child exits.

#include "runner/spawn/start_block.h"

namespace lockstep::spawn {

struct StartFailure {
  std::int32_t stage = 0;  // SpawnStage
  std::int32_t error = 0;  // errno
};

// `stdio`: what becomes fds 0, 1 and 2. `parent`: getpid() of lockstep-spawn before the fork.
[[noreturn]] void become_rank(const MappedBlock& block, const int stdio[3], int error_fd,
                              int parent);

}  // namespace lockstep::spawn
