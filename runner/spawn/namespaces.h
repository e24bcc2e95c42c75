#pragma once
// Starts one process in new namespaces: clone, map ids, mount, exec. The child shares no namespace
// with the runner afterwards, so that all its mounts vanish when it ends.

#include <string>

#include "runner/spawn/client.h"

namespace lockstep::spawn {

// Starts `program` with `socket` as fd 3, no arguments and no environment; stdio is /dev/null,
// /dev/null and our stderr. Returns its pid (in our pid namespace) once exec succeeded. An error
// names the step that failed and the kernel's error.
Result<int> start_in_namespaces(const std::string& program, const Namespaces& namespaces,
                                int socket);

}  // namespace lockstep::spawn
