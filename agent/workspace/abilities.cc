#include "agent/workspace/abilities.h"

#include <fmt/format.h>
#include <sched.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "common/io/files/places.h"
#include "common/io/process.h"
#include "common/snapshot/checkout/materialize.h"

namespace lockstep::agent {

bool can_unshare_mounts() {
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    ::_exit(::unshare(CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0 ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool has_common_path() {
  const std::string folder = io::jobs_folder();
  const Status made =
      folder.empty() ? Status(make_error(
                           ErrorCode::not_found,
                           "this user has neither a home directory nor a directory in /run/user"))
                     : io::make_private_folders(folder);
  if (!made)
    spdlog::warn(
        "ranks on this node run below the agent's home, and not under the path that is the same on "
        "all nodes: {}",
        made.error().message);
  return bool(made);
}

Result<snapshot::Owner> owner_for(const std::string& run_as) {
  const snapshot::Owner ours = snapshot::current_owner();
  if (run_as.empty()) return ours;
  TRY_ASSIGN(const io::User user, io::find_user(run_as));
  if (user.uid == ours.uid) return ours;
  if (ours.uid == 0) return snapshot::Owner{user.uid, user.gid};
  return make_error(
      ErrorCode::permission_denied,
      fmt::format("this node's agent is not root and cannot run jobs as {}; submit as "
                  "the agent's user",
                  run_as));
}

}  // namespace lockstep::agent
