#pragma once
// A nursery is a cgroup in v1's pids hierarchy that a runner process enters ahead of time, and in
// which its ranks start. The first move of a process between v1 cgroups waits for an RCU grace
// period of 8 to 12 ms, so ranks move to their own cgroups in parallel with their start
// (runner/node/cgroup_joiner). Until then the nursery limits how many processes they fork.
// docs/decisions/035-nurseries.md

#include <string>

namespace lockstep::io {

// Makes a nursery below the cgroup of this process and moves the process into it. Returns its
// directory, or "" if there is no v1 pids hierarchy that we can write to. It sets no limit yet.
std::string enter_nursery();

// The nursery that a live process is in, or "".
std::string nursery_of(int pid);

// Removes the empty nurseries below the cgroup of this process. It may also remove one that another
// process has just made and not entered yet; that process then makes another one.
void remove_empty_nurseries();

// Removes the empty nurseries in the folder that the cgroups of attempts share, and the folder if
// it is empty then.
void remove_empty_nurseries_in(const std::string& folder);

}  // namespace lockstep::io
