#pragma once
// An image with packages of conda in it: they are solved for the C library of the image and
// installed on this node as the job's user, at the path that they have in the image; the engine
// unpacks an archive of them into it.

#include <string>

#include "envs/docker/container_engine.h"
#include "envs/provider.h"

namespace lockstep::envs {

// The packages in `lock`, and of its image what they give to ranks and the id of the new image,
// which has site.image.tag; the one below has that tag before. `glibc`: of the image.
Status add_conda(Toolbox& tools, const ContainerEngine& engine, const Site& site,
                 const CondaEnvironment& definition, const std::string& glibc, Lock& lock);

}  // namespace lockstep::envs
