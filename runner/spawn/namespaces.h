#pragma once
// Starts one process in new namespaces: clone, map ids, mount, exec. The child shares no namespace
// with the runner afterwards, so that all its mounts vanish when it ends.

#include <functional>
#include <string>

#include "common/base/result.h"

namespace lockstep::spawn {

// The namespaces that lockstep-spawn gets, and the mounts in them.
struct Namespaces {
  bool user = false;  // lets an ordinary user create the others; ids map to themselves
  bool pid = false;  // lockstep-spawn is PID 1: the kernel kills everything with it; /proc is fresh
  bool mount = false;  // implied by pid
  // Called in the child with private mounts, before exec and before any change of ids.
  std::function<Status()> prepare_mounts;
};

// Starts `program` with `socket` as fd 3, no arguments and no environment; stdio is /dev/null,
// /dev/null and our stderr. Returns its pid (in our pid namespace) once exec succeeded. An error
// names the step that failed and the kernel's error.
Result<int> start_in_namespaces(const std::string& program, const Namespaces& namespaces,
                                int socket);

}  // namespace lockstep::spawn
