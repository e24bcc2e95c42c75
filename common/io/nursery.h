#pragma once
// A cgroup of v1's pids hierarchy that a process enters ahead of time and in which its ranks start.
// The first move of a process between v1 cgroups waits for an RCU grace period, 8 to 12 ms, so
// ranks move to their own cgroups while they start (runner/steps/cgroup_joiner). Until then the
// nursery limits their forks. docs/decisions/035-nurseries.md

#include <string>

namespace lockstep::io {

// Makes a nursery below the cgroup of this process and moves the process into it. Returns its
// directory, or "" where we cannot write to a v1 pids hierarchy. Sets no limit yet.
std::string enter_nursery();

// `cgroup`, or the parent of `cgroup` if that is a nursery.
std::string outside_nursery(const std::string& cgroup);

// Removes the empty nurseries below the cgroup of this process. One that another process has made
// and not yet entered may be among them: it makes another one.
void remove_empty_nurseries();

}  // namespace lockstep::io
