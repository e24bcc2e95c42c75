#pragma once
// The secrets of a launcher's users, each encrypted with a key that is a file of its own, beside
// the journal and in none of its backups. Which user and name a text belongs to is authenticated
// with it: rows that somebody exchanged are not decrypted.
//
// Each change is durable when it returns. One thread.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/domain/secrets.h"
#include "launcher/store/sqlite.h"

namespace lockstep::launcher {

class SecretStore {
 public:
  // In `folder`, 0700: `key` and secrets.db. A key that is missing is made, unless there are
  // secrets already: then they are lost, and the error says which file to bring back.
  static Result<std::unique_ptr<SecretStore>> open(const std::string& folder);
  ~SecretStore();
  SecretStore(const SecretStore&) = delete;
  SecretStore& operator=(const SecretStore&) = delete;

  // resource_exhausted: the user has as many secrets, or as many bytes of them, as one may.
  Status set(const std::string& owner, const std::string& name, const std::string& value,
             Instant now);
  Status remove(const std::string& owner, const std::string& name);  // not_found
  // Of all users but these: a name that was removed is never given again.
  Status keep_only(const std::set<std::string>& owners);
  Result<std::vector<SecretView>> list(const std::string& owner);
  Result<bool> has(const std::string& owner, const std::string& name);
  // Those of `names` that there are. corrupt: one cannot be decrypted.
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
