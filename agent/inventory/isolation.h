#pragma once
// By what means this node makes sure that nothing of an attempt survives it, best first: cgroup v2
// where the memory controller is delegated, else v1, else a PID namespace, else the subreaper's
// sweep. Leaves nothing behind. The runner decides again for each attempt; this is what the node
// says of itself.

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
