#pragma once
// Package files that a user of this node has fetched before, by their SHA-256:
// <cache>/wheels/<sha256>/<file name>. Each file was hashed when it was added; pip checks the hash
// again when it installs the file.

#include <string>
#include <vector>

#include "common/base/digest.h"
#include "envs/lock.h"

namespace lockstep::envs {

// The SHA-256 of a file's content.
Result<Digest> digest_of_file(const std::string& path);

class Wheelhouse {
 public:
  explicit Wheelhouse(const std::string& cache) : folder_(cache + "/wheels") {}
  // The folders that hold `packages`. not_found: names a package that is missing.
  Result<std::vector<std::string>> folders_of(const std::vector<LockedPackage>& packages) const;
  // Moves every file of `folder` into the wheelhouse; other processes may do the same at once.
  Status take_in(const std::string& folder) const;

 private:
  const std::string folder_;
};

}  // namespace lockstep::envs
