#pragma once
// The secrets of a launcher's users, encrypted with a key in its own file. No backup contains the
// key, or the secrets but sealed to another key (sealed_secrets.h). Each secret is authenticated
// together with its owner and name, so rows that somebody exchanged cannot be decrypted.
//
// Each change is durable when the function returns. For one thread only.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/people/secrets.h"
#include "launcher/sqlite/database.h"

namespace lockstep::launcher {

// One secret in clear, for a backup. Whoever holds it wipes it.
struct StoredSecret {
  std::string owner, name, value;
  Instant updated;
  friend bool operator==(const StoredSecret&, const StoredSecret&) = default;
};

class SecretStore {
 public:
  // `folder` (0700) holds `key` and secrets.db. A missing key is created, unless there are secrets
  // already: they cannot be read without it, and the error names the file to bring back. Who only
  // reads the store of a launcher creates none.
  enum class MissingKey { create, refuse };
  static Result<std::unique_ptr<SecretStore>> open(const std::string& folder,
                                                   MissingKey missing = MissingKey::create);
  ~SecretStore();
  SecretStore(const SecretStore&) = delete;
  SecretStore& operator=(const SecretStore&) = delete;

  // resource_exhausted: the user has as many secrets, or as many bytes of them, as one may.
  Status set(const std::string& owner, const std::string& name, const std::string& value,
             Instant now);
  Status remove(const std::string& owner, const std::string& name);  // not_found
  // Removes the secrets of all users except these. Names of removed users are never reused.
  Status keep_only(const std::set<std::string>& owners);
  Result<std::vector<SecretView>> list(const std::string& owner);
  Result<bool> has(const std::string& owner, const std::string& name);
  // Those of all users. corrupt: one cannot be decrypted.
  Result<std::vector<StoredSecret>> all();
  // The values of those of `names` that exist. corrupt: one cannot be decrypted.
  Result<SecretValues> values(const std::string& owner, const std::set<std::string>& names);

 private:
  SecretStore(Database database, std::string key_path, std::string key);
  Result<std::string> decrypt(const std::string& owner, const std::string& name,
                              std::string_view sealed) const;
  Status expect_room(const std::string& owner, const std::string& name, std::size_t bytes);

  Database database_;
  const std::string key_path_;
  std::string key_;
};

}  // namespace lockstep::launcher
