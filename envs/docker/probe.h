#pragma once
// What an image and this node can do together, found out by starting lockstep-spawn in a container
// of it, once, as ranks will be: the flags that the engine takes, the shell and the C library that
// the image has.

#include <string>

#include "envs/docker/container_engine.h"
#include "envs/provider.h"

namespace lockstep::envs {

struct ImageProbe {
  std::string shell;  // "/bin/bash", "/bin/sh"; "" = none
  std::string glibc;  // "2.36"; "" = another C library, or none
  bool unlimited_memlock = false;
};

// unavailable: no container of it starts here. The log says what is limited, and why.
Result<ImageProbe> probe(Toolbox& tools, const ContainerEngine& engine, const Site& site,
                         const std::string& id);

}  // namespace lockstep::envs
