#pragma once
// Packages of conda for an image, solved and installed in this process, which is the job's user's:
// their scripts run here. What comes of it is one archive, which a container engine's client can
// read without looking into a folder of that user's.

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
