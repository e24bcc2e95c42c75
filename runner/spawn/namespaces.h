#pragma once
// One process start into new namespaces: clone, map ids, mount, exec. The child shares nothing
// with the runner afterwards, so that every mount is gone with it.

#include <string>

#include "runner/spawn/client.h"

namespace lockstep::spawn {

// Starts `program` with `socket` as fd 3, no arguments and no environment; stdio is /dev/null,
// /dev/null and our stderr. Returns its pid (in our pid namespace) once exec succeeded. An error's
// message names the step and what the kernel said.
Result<int> start_in_namespaces(const std::string& program, const Namespaces& namespaces,
                                int socket);

}  // namespace lockstep::spawn
