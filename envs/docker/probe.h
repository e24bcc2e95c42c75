#pragma once
// Finds out which features an image and this node's engine support, by starting lockstep-spawn once
// in a container of the image, in the same way as ranks: the flags that the engine accepts, and the
// image's shell and C library.

#include <string>

#include "envs/docker/container_engine.h"
#include "envs/provider.h"

namespace lockstep::envs {

struct ImageProbe {
  std::string shell;                  // "/bin/bash", "/bin/sh"; "" = none
  std::string glibc;                  // "2.36"; "" = another C library, or none
  bool unlimited_memlock = false;     // the engine can lift the limit
  bool memlock_is_unlimited = false;  // the limit was lifted, or there was none
};

// Probes an image. Returns unavailable if no container of the image starts here; the log says which
// features are missing, and why.
Result<ImageProbe> probe(Toolbox& tools, const ContainerEngine& engine, const Site& site,
                         const std::string& id);

}  // namespace lockstep::envs
