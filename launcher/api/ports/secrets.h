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
  // Stores a secret, in place of one with the same name. Returns invalid_argument if the name or
  // the value is not allowed, and resource_exhausted if the owner has the most secrets, or bytes of
  // them, already.
  virtual Status set(const std::string& owner, const std::string& name,
                     const std::string& value) = 0;
  // not_found: there is none
  virtual Status remove(const std::string& owner, const std::string& name) = 0;
  virtual Result<std::vector<SecretView>> list(const std::string& owner) = 0;  // sorted by name
  // Checks that the owner has these secrets. Returns not_found with the first missing one. Never
  // fails without names.
  virtual Status expect(const std::string& owner, const std::set<std::string>& names) = 0;
};

}  // namespace lockstep::launcher
