#pragma once
// Files that tell the agent where its launcher is now: <home>/moved, which `lockstep-agent moved`
// and installers write, and the file of --token-file, if a newer token is put there. Accounts that
// can write these files could replace the agent as well, so they are trusted. A token of another
// launcher is ignored.

#include <sys/types.h>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/domain/messages/agent_protocol.h"
#include "common/io/file_system.h"
#include "common/wire/join_token.h"

namespace lockstep::agent {

// One file that tells where the launcher is.
class MovedFile {
 public:
  enum class Kind {
    message,  // the file is removed after it was read
    token,    // the file stays, and is read when it has changed since this object was made
  };
  // `path`: "" if there is no file.
  MovedFile(std::string path, PublicKey launcher, Kind kind);
  // The address in the file. nullopt: the file is unchanged, missing, unreadable, or not a token of
  // our launcher.
  std::optional<LauncherAddress> look();

 private:
  struct Version {
    ino_t inode = 0;
    off_t size = 0;
    timespec changed{};
    bool operator==(const Version& other) const {
      return inode == other.inode && size == other.size && changed.tv_sec == other.changed.tv_sec &&
             changed.tv_nsec == other.changed.tv_nsec;
    }
  };
  std::optional<Version> version() const;

  std::string path_;
  PublicKey launcher_;
  Kind kind_;
  std::optional<Version> seen_;
};

Result<wire::JoinToken> read_token_file(const std::string& path);
// The content that `lockstep-agent moved --launcher` writes: a token without a secret.
wire::JoinToken token_for(const PublicKey& launcher, const LauncherAddress& address);

}  // namespace lockstep::agent
