#pragma once

#include <string>

namespace lockstep::agent {

// The program that makes containers here: what LOCKSTEP_CONTAINER_ENGINE names, else docker, else
// podman, whichever is on our PATH. "": none. Whether it answers is asked for each environment.
std::string probe_container_engine();

}  // namespace lockstep::agent
