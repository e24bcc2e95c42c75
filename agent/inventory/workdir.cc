#include "agent/inventory/workdir.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

// Mounts in a child with a mount namespace of its own, so nothing has to be unmounted.
bool can_overlay(const std::string& scratch, bool own_user_namespace) {
  const std::string options = "lowerdir=" + scratch + "/lower,upperdir=" + scratch +
                              "/upper,workdir=" + scratch + "/work" +
                              (own_user_namespace ? ",userxattr" : "");
  const std::string target = scratch + "/merged", written = target + "/file";
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    const int flags = CLONE_NEWNS | (own_user_namespace ? CLONE_NEWUSER : 0);
    if (::unshare(flags) != 0) ::_exit(1);
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(2);
    if (::mount("overlay", target.c_str(), "overlay", 0, options.c_str()) != 0) ::_exit(3);
    ::_exit(::open(written.c_str(), O_WRONLY | O_CREAT, 0600) >= 0 ? 0 : 4);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool can_reflink(const std::string& scratch) {
  if (!io::write_file_atomically(scratch + "/from", "x", 0600, false)) return false;
  const auto from = io::open_file(scratch + "/from", O_RDONLY);
  const auto to = io::open_file(scratch + "/to", O_WRONLY | O_CREAT, 0600);
  return from && to && ::ioctl(to->get(), FICLONE, from->get()) == 0;
}

bool make_scratch(const std::string& scratch) {
  for (const char* name : {"/lower", "/upper", "/work", "/merged"}) {
    if (!io::make_directories(scratch + name, 0700)) return false;
  }
  return true;
}

WorkdirProbe try_each(const std::string& scratch) {
  const bool root = ::geteuid() == 0;
  if (!make_scratch(scratch)) return {"copy", {"the agent's home is not writable"}};
  if (can_overlay(scratch, !root)) return {root ? "overlay" : "overlay-userns", {}};
  WorkdirProbe probe;
  probe.limitations.push_back("no overlay can be mounted over " +
                              scratch.substr(0, scratch.rfind('/')) +
                              ": each attempt gets a copy of the source tree");
  probe.mode = can_reflink(scratch) ? "reflink" : "copy";
  return probe;
}

}  // namespace

WorkdirProbe probe_workdir(const std::string& home) {
  const std::string scratch = home + "/probe-" + std::to_string(::getpid());
  const WorkdirProbe probe = try_each(scratch);
  (void)io::remove_tree(scratch);
  return probe;
}

}  // namespace lockstep::agent
