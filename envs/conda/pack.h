#pragma once
// Solves and installs conda packages for an image. This process runs as the job's user, because the
// packages' scripts run in it. The result is one archive, so that the container engine's client
// need not read folders of that user.

#include <string>

#include "envs/provider.h"

namespace lockstep::envs {

struct PackedConda {
  Lock lock;
  Activation activation;
};

// The name of the packed file in TMPDIR: an archive of all files in site.prefix, owned by root,
// readable by everybody.
inline constexpr const char* kPackedFile = "packages.tar";

// Packs the packages. site.platform is conda's, with the C library of the image. Empties the prefix
// first.
Result<PackedConda> pack_conda(Toolbox& tools, const CondaEnvironment& definition,
                               const Site& site);

}  // namespace lockstep::envs
