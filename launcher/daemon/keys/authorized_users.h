#pragma once
// Reads keys/authorized_users, and reads it again when it has changed: the users that a launcher
// begins with, and those that its operator adds by hand. A line that is not "NAME PUBLICKEY" is
// reported and skipped; a world-writable file counts as empty. core/access/user_changes.h decides
// what the lines mean.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "launcher/core/access/user_changes.h"

namespace lockstep::launcher {

// How long the file is not checked again, since there may be thousands of requests per second.
inline constexpr Duration kKeysFileHolds = milliseconds(1);

class AuthorizedUsers {
 public:
  explicit AuthorizedUsers(std::string path) : path_(std::move(path)) {}
  // The file's lines if it changed since the last call; always on the first call.
  std::optional<std::vector<KeysFile::Line>> look();
  // Whether the file has this key now, or had it kKeysFileHolds ago.
  bool lists(const PublicKey& key);

 private:
  struct Version {  // The identity of the file's content.
    std::uint64_t inode = 0;
    std::int64_t size = -1, mtime_ns = 0;
    std::uint32_t mode = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };
  void reload_if_changed();

  std::string path_;
  std::chrono::steady_clock::time_point looked_{};
  Version version_;
  std::vector<KeysFile::Line> lines_;
  bool is_new_ = true;  // the lines changed since the last look()
};

}  // namespace lockstep::launcher
