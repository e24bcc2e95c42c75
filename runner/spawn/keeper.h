#pragma once
// A keeper: the process between lockstep-spawn and a program that was attached to a rank. It is a
// child subreaper, so that processes which the program leaves behind, with setsid or without, stay
// below it. When the program has ended, these processes get a moment to end, like the last command
// of a pipe, and are then killed. It decides nothing else, and ends when nothing is left.

#include "runner/spawn/rank_process.h"

namespace lockstep::spawn {

// The signal to a keeper by which lockstep-spawn asks it to kill at once all that is below it.
inline constexpr int kEndKeeper = 15;

struct KeeperPipes {
  int error = -1;   // errno of the start, as for a rank
  int keeper = -1;  // the pid of the program (int), once forked; at the end its wait status (int)
};

// Runs the keeper in the child of lockstep-spawn, with all signals blocked. `place.parent`:
// lockstep-spawn.
[[noreturn]] void keep(const MappedBlock& block, const int stdio[3], const KeeperPipes& pipes,
                       const Place& place);

}  // namespace lockstep::spawn
