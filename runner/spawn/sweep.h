#pragma once
// Finds processes in /proc, and kills every process below a subreaper. Every orphan becomes its
// child, so waitpid returns ECHILD exactly when no descendant is left.

#include <vector>

namespace lockstep::spawn {

// The descendants of `root`, from one scan of /proc; children after their parents.
std::vector<int> descendants_of(int root);

// The processes of a group that have a handler for the signal, from one scan of /proc. Processes
// that were forked within the last second and have not executed a program are left out: the program
// that they will execute may handle nothing.
std::vector<int> handlers_in_group(int group, int signal_number);

// The process group that gets a signal for a child of `parent`: the foreground group of its
// terminal; if it has none, its own. -1: the child does not exist any more.
int group_to_signal(int pid, int parent);

// Sends SIGKILL to every descendant of this process; as PID 1 of a pid namespace, to every process
// in it. New ones may appear meanwhile: repeat until waitpid(-1) returns ECHILD.
void kill_descendants();

}  // namespace lockstep::spawn
