#pragma once
// How this node ensures that no process outlives its attempt: cgroup v2 if the memory controller is
// delegated, else v1, else a PID namespace, else the subreaper's sweep. The probe leaves nothing
// behind. The inventory reports it; the runner decides again for each attempt.

#include <string>
#include <vector>

namespace lockstep::agent {

struct IsolationProbe {
  std::string kind;                      // cgroup-v2 | cgroup-v1 | pid-namespace | subreaper
  std::vector<std::string> limitations;  // what that kind cannot do
};

// `root`: "" or the root directory of a fake (proc/self/…, sys/fs/cgroup).
IsolationProbe probe_isolation(const std::string& root = "");

// What a child process can do in new namespaces (an own user namespace first, for an ordinary
// user).
bool can_unshare(int namespaces);

}  // namespace lockstep::agent
