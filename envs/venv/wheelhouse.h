#pragma once
// Files of packages that a user of this node has fetched before, by their SHA-256:
// <cache>/wheels/<sha256>/<file name>. What is in there has been read and hashed when it came; pip
// checks it once more when it installs.

#include <string>
#include <vector>

#include "common/base/digest.h"
#include "envs/lock.h"

namespace lockstep::envs {

// Of what is in it.
Result<Digest> digest_of_file(const std::string& path);

class Wheelhouse {
 public:
  explicit Wheelhouse(const std::string& cache) : folder_(cache + "/wheels") {}
  // The folders to look in for all of `packages`, or nothing when one is not here.
  Result<std::vector<std::string>> folders_of(const std::vector<LockedPackage>& packages) const;
  // Adds every file of `folder`, whatever its type. Safe while other processes add files too.
  Status take_in(const std::string& folder) const;

 private:
  const std::string folder_;
};

}  // namespace lockstep::envs
