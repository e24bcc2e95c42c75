#pragma once
// A keeper: the process between lockstep-spawn and a program that was attached to a rank. It is a
// child subreaper, so that what the program leaves behind, with setsid or without, stays below it.
// When the program has ended, what is left of it gets a moment to end, as the last command of a
// pipe does, and is killed. It decides nothing else, and ends when nothing is left.

#include "runner/spawn/rank_process.h"

namespace lockstep::spawn {

// The signal to a keeper by which lockstep-spawn asks it to kill at once all that is below it.
inline constexpr int kEndKeeper = 15;

struct KeeperPipes {
  int error = -1;   // of the start, as a rank's
  int keeper = -1;  // the pid of the program (int), once forked; at the end its wait status (int)
};

// In the child of lockstep-spawn, with all signals blocked. `place.parent`: lockstep-spawn.
[[noreturn]] void keep(const MappedBlock& block, const int stdio[3], const KeeperPipes& pipes,
                       const Place& place);

}  // namespace lockstep::spawn
