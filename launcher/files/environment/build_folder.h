#pragma once
// The folder that an image is built from, as a job or environment file names it. The definition has
// the digest of the folder's tree instead. The program that submits it captures the folder to get
// the digest; nothing here does.

#include <string>

#include "common/base/result.h"

namespace lockstep::spec {

struct BuildFolder {
  std::string path;        // absolute, or relative to the working directory
  std::string dockerfile;  // the file's path, relative to the folder
  // The prefix of errors: "job.yml:3:10: 'environment.build.path'".
  std::string where;
  std::string dockerfile_where;
  friend bool operator==(const BuildFolder&, const BuildFolder&) = default;
};

// Checks that the folder and the Dockerfile exist, that the Dockerfile is inside the folder, and
// that the folder has no device or fifo, which cannot be captured. Unreadable files, and changes
// made later, are reported by the capture.
Status find_build(const BuildFolder& build);

}  // namespace lockstep::spec
