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

// That both are there, the file inside of the folder, and nothing in it that cannot be taken along:
// what cannot be read, or is changed later, capturing finds.
Status find_build(const BuildFolder& build);

}  // namespace lockstep::spec
