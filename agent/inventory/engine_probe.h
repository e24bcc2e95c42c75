#pragma once

#include <string>

namespace lockstep::agent {

// The program of the container engine: the one that LOCKSTEP_CONTAINER_ENGINE names; otherwise
// docker or podman, whichever is found first on our PATH. "": none. Whether the engine answers is
// checked only when an environment is solved or built.
std::string probe_container_engine();

}  // namespace lockstep::agent
