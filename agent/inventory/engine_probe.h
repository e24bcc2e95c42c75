#pragma once

#include <string>

namespace lockstep::agent {

// The container engine's program: the one that LOCKSTEP_CONTAINER_ENGINE names, else docker, else
// podman, whichever is on our PATH. "": none. It does not check that the engine answers; each
// environment's solve or build does.
std::string probe_container_engine();

}  // namespace lockstep::agent
