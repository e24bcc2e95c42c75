#pragma once
// Finds the best way that this node has to end every process of an attempt: cgroup v2 if the memory
// controller is delegated; otherwise cgroup v1, a PID namespace, or the subreaper's sweep, in this
// order. The probe leaves no files or processes. Its result is only for the inventory; the runner
// decides again for each attempt.

#include <map>
#include <string>
#include <vector>

namespace lockstep::agent {

struct IsolationProbe {
  std::string kind;                      // cgroup-v2 | cgroup-v1 | pid-namespace | subreaper
  std::vector<std::string> limitations;  // the limits that this kind cannot enforce
  std::map<std::string, std::string> unenforced = {};  // see Inventory
};

// `root`: "", or the root directory of a fake machine (proc/self/…, sys/fs/cgroup).
IsolationProbe probe_isolation(const std::string& root = "");

// Whether a child process can create these namespaces (CLONE_NEW… flags); an ordinary user creates
// a user namespace with them.
bool can_unshare(int namespaces);

}  // namespace lockstep::agent
