#include "agent/workspace/client_home.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/io/beneath.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/net/transport.h"

namespace lockstep::agent {
namespace {

Status write_file(const io::Folder& folder, const std::string& name, const std::string& text,
                  const snapshot::Owner& owner) {
  const std::string shown = folder.shown() + "/" + name;
  const io::Fd file(io::disk::openat(folder.fd(), name.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return errno_error(errno, "cannot make " + shown);
  if (const Status written = io::write_all(file.get(), text); !written)
    return written.error().within(shown);
  const bool is_ours = owner.uid == ::geteuid();
  if (!is_ours && io::disk::fchown(file.get(), owner.uid, owner.gid) != 0)
    return errno_error(errno, "cannot change the owner of " + shown);
  return {};
}

constexpr const char* kEndpoint = "endpoint.json";

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Status make_client_home(const io::AttemptDir& directory, const ClientAccess& access,
                        const snapshot::Owner& owner) {
  TRY_ASSIGN(const io::KeyPair key, io::key_pair_with(access.secret_key));
  TRY_ASSIGN(const io::Folder attempt, io::Folder::open(directory.path()));
  const std::string name = name_of(directory.client_home());
  TRY(attempt.remove(name));  // left by a staging that was interrupted
  bool is_new = false;
  TRY_ASSIGN(const io::Folder home, attempt.make(name, is_new));
  TRY_ASSIGN(const io::Folder keys, home.make("keys", is_new));
  TRY(write_file(keys, "user.key",
                 fmt::format("public {}\nsecret {}\n", key.public_key.value, key.secret_key),
                 owner));
  // The file names the attempt, for the error of a person who copies the key and uses it later.
  TRY(write_file(
      keys, "attempt",
      fmt::format("attempt {} of job {}", access.attempt.number, access.attempt.job.value), owner));
  TRY(write_file(home, kEndpoint, access.endpoint, owner));
  TRY(keys.give({owner.uid, owner.gid}, 0700));
  return home.give({owner.uid, owner.gid}, 0700);
}

// Renews the endpoint in the user's folder: a file of the agent is made there, given to the user,
// and renamed over the old one.
Status renew_endpoint(const io::AttemptDir& directory, const std::string& endpoint) {
  const auto attempt = io::Folder::open(directory.path());
  const auto home = attempt ? attempt->enter(name_of(directory.client_home()))
                            : Result<io::Folder>(attempt.error());
  if (!home) return {};
  struct stat info {};
  if (::fstat(home->fd(), &info) != 0) return errno_error(errno, "cannot look at " + home->shown());
  const std::string fresh = std::string(kEndpoint) + ".new";
  TRY(home->remove(fresh));
  TRY(write_file(*home, fresh, endpoint, {info.st_uid, info.st_gid}));
  if (io::disk::renameat(home->fd(), fresh.c_str(), home->fd(), kEndpoint) != 0)
    return errno_error(errno, "cannot replace " + home->shown() + "/" + kEndpoint);
  return {};
}

}  // namespace lockstep::agent
