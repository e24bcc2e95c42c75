#pragma once
// Killing everything below a subreaper. Every orphan comes back to it, so "waitpid says ECHILD"
// means exactly that no descendant is left.

#include <vector>

namespace lockstep::spawn {

// Every process below `root` now, from one look at /proc; children after their parents.
std::vector<int> descendants_of(int root);

// Sends SIGKILL to every descendant of this process; as PID 1 of a pid namespace, to all of it.
// New ones may appear meanwhile: repeat until waitpid(-1) says ECHILD.
void kill_descendants();

}  // namespace lockstep::spawn
