#pragma once
// A cgroup that a process enters ahead of time, in v1's hierarchy that counts processes, and in
// which its ranks begin. The first move of a process between v1 cgroups waits for an RCU grace
// period, 8 to 12 ms, so ranks move to cgroups of their own beside their start
// (runner/steps/cgroup_joiner). What they fork until then is bounded by the nursery.
// docs/decisions/035-nurseries.md

#include <string>

namespace lockstep::io {

// Makes a nursery below the cgroup of this process and moves the process into it: its directory, or
// "" where no v1 hierarchy that counts processes is ours to write. Nothing is limited yet.
std::string enter_nursery();

// `cgroup`, or, where that is a nursery, the cgroup in which it was made.
std::string outside_nursery(const std::string& cgroup);

// Removes the empty nurseries below the cgroup of this process. One that another process has made
// and not yet entered may be among them: it makes another one.
void remove_empty_nurseries();

}  // namespace lockstep::io
