#pragma once
// The file of users' keys as the shell reads it: keys/authorized_users.

#include <string>
#include <vector>

#include "common/base/ids.h"

namespace lockstep::launcher {

// The content of keys/authorized_users. A user who is new in it becomes a submitter of the default
// project; `owner` (the account that runs the launcher) and root become admins. Keys that were
// removed from the file lose access.
struct KeysFile {
  struct Line {
    std::string name;
    PublicKey key;
    friend bool operator==(const Line&, const Line&) = default;
  };
  std::string owner;
  std::vector<Line> lines;
};

}  // namespace lockstep::launcher
