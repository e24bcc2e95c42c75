#pragma once
// Solves and installs conda packages for an image, in a process of the job's user, because the
// packages' scripts run in it. The result is one archive, so that the container engine's client
// need not read the user's folders.

#include <string>

#include "envs/conda/conda.h"
#include "envs/provider.h"

namespace lockstep::envs {

struct PackedConda {
  Lock lock;
  Activation activation;
};

// In TMPDIR: an archive of all that is in site.prefix, of root, readable by everybody.
inline constexpr const char* kPackedFile = "packages.tar";

// site.platform is conda's, with the C library of the image. The prefix is emptied before.
Result<PackedConda> pack_conda(Toolbox& tools, const CondaEnvironment& definition,
                               const Site& site);

}  // namespace lockstep::envs
