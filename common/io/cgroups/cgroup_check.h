#pragma once
// Tests whether a cgroup has its effect. A directory that looks like a cgroup may not work as one:
// a hierarchy may be mounted twice, or be hidden below another mount, or a process that joins
// several cgroups may end in another one than the one with the limit.

#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep::io {

// The first of these directories of one v1 controller in which we can make a cgroup that keeps a
// limit; "": there is none. There are several if the hierarchy is mounted several times.
std::string usable_v1(const std::vector<std::string>& candidates, const std::string& controller);

// Checks that the memory limit of the cgroup `directory` reads back as it was written; else returns
// unsupported.
Status check_memory_limit(const std::string& directory, int version, Bytes limit);

// Checks that a process that joins `files` one after the other, as a rank does, is then in the
// cgroup `member`; else returns unsupported. Starts a process for a moment, and in v1 waits for the
// kernel for 10 ms or more.
Status check_member(const std::vector<std::string>& files, const std::string& member);

// Whether a live process is in the cgroup `member` of the controller (v2: ""); true if it has
// ended.
bool is_in_cgroup(int pid, const std::string& controller, const std::string& member);

}  // namespace lockstep::io
