#pragma once
// The folder that an image is built from, as a file names it. The definition has the digest of its
// tree instead, which whoever submits it gets by capturing the folder: nothing here does.

#include <string>

#include "common/base/result.h"

namespace lockstep::spec {

struct BuildFolder {
  std::string path;        // absolute, or relative to the working directory
  std::string dockerfile;  // relative to it
  // What stands before errors: "job.yml:3:10: 'environment.build.path'".
  std::string where;
  std::string dockerfile_where;
  friend bool operator==(const BuildFolder&, const BuildFolder&) = default;
};

// Checks that folder and Dockerfile exist, that the file lies inside the folder, and that the
// folder has no entry that cannot be captured. Unreadable or changing files are found when it is
// captured.
Status find_build(const BuildFolder& build);

}  // namespace lockstep::spec
