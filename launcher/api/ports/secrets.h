#pragma once
// The secrets of users, as the service uses them: it changes and lists them, and never reads a
// value. A change is durable when the function returns. Any function fails with the store's error
// if the store cannot be opened.

#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/people/secrets.h"

namespace lockstep::launcher {

class Secrets {
 public:
  virtual ~Secrets() = default;
  // Replaces a secret of the same name. invalid_argument: the name or the value is no secret's;
  // resource_exhausted: the owner has as many secrets, or as many bytes of them, as one may.
  virtual Status set(const std::string& owner, const std::string& name,
                     const std::string& value) = 0;
  virtual Status remove(const std::string& owner, const std::string& name) = 0;  // not_found
  virtual Result<std::vector<SecretView>> list(const std::string& owner) = 0;    // sorted by name
  // not_found: the message names the first of these that the owner does not have. Never fails
  // without names.
  virtual Status expect(const std::string& owner, const std::set<std::string>& names) = 0;
};

}  // namespace lockstep::launcher
