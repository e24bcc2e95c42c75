#pragma once
// Who may use this launcher: keys/authorized_users, read again whenever the file changed. A line
// that is not "NAME PUBLICKEY" is reported and skipped; a file that everybody may change lets
// nobody in.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/ids.h"

namespace lockstep::launcher {

class AuthorizedUsers {
 public:
  explicit AuthorizedUsers(std::string path) : path_(std::move(path)) {}
  // The user whose key this is; nullopt: nobody's.
  std::optional<std::string> name_of(const PublicKey& key);

 private:
  struct Version {  // of the file
    std::uint64_t inode = 0;
    std::int64_t size = -1, mtime_ns = 0;
    std::uint32_t mode = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };
  void reload_if_changed();

  std::string path_;
  Version version_;
  std::map<PublicKey, std::string> names_;
};

}  // namespace lockstep::launcher
