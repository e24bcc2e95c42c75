#pragma once
// Adds conda packages to an image. They are solved for the C library of the image and installed on
// this node as the job's user, at the same path that they get in the image; then the engine unpacks
// an archive of them into the image.

#include <string>

#include "envs/docker/container_engine.h"
#include "envs/provider.h"

namespace lockstep::envs {

// Adds the packages to `lock`, and their activation and the new image's id to lock.image. The base
// image must have site.image.tag, which then names the new image. `glibc`: of the base image.
Status add_conda(Toolbox& tools, const ContainerEngine& engine, const Site& site,
                 const CondaEnvironment& definition, const std::string& glibc, Lock& lock);

}  // namespace lockstep::envs
