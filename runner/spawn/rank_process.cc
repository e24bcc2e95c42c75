#include "runner/spawn/rank_process.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace lockstep::spawn {
namespace {

bool join_cgroups(const MappedBlock& block) {
  for (const char* procs : block.cgroups()) {
    const int fd = open(procs, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool joined = write(fd, "0", 1) == 1;  // "0" is the writer itself, in every pid namespace
    close(fd);
    if (!joined) return false;
  }
  return true;
}

bool set_limits(const MappedBlock& block) {
  for (std::uint32_t i = 0; i < block.head().rlimits; ++i) {
    const RlimitEntry& entry = block.rlimits()[i];
    const auto resource = static_cast<__rlimit_resource_t>(entry.resource);
    rlimit limit{entry.soft, entry.hard};
    if (setrlimit(resource, &limit) == 0) continue;
    if (errno != EPERM || entry.at_most == 0) return false;
    rlimit now{};
    if (getrlimit(resource, &now) != 0) return false;
    limit = {entry.soft < now.rlim_max ? entry.soft : now.rlim_max, now.rlim_max};
    if (setrlimit(resource, &limit) != 0) return false;
  }
  return true;
}

bool set_affinity(const MappedBlock& block) {
  if (block.head().cpus == 0) return true;
  int highest = 0;
  for (std::uint32_t i = 0; i < block.head().cpus; ++i)
    if (block.cpus()[i] > highest) highest = block.cpus()[i];
  cpu_set_t* set = CPU_ALLOC(highest + 1);
  const std::size_t size = CPU_ALLOC_SIZE(highest + 1);
  if (set == nullptr) return false;
  CPU_ZERO_S(size, set);
  for (std::uint32_t i = 0; i < block.head().cpus; ++i)
    if (block.cpus()[i] >= 0) CPU_SET_S(block.cpus()[i], size, set);
  return sched_setaffinity(0, size, set) == 0;
}

bool set_stdio(const int stdio[3]) {
  int from[3];
  for (int i = 0; i < 3; ++i) {  // moved out of the way first: a source may be one of 0, 1, 2
    from[i] = fcntl(stdio[i], F_DUPFD_CLOEXEC, 10);
    if (from[i] < 0) return false;
  }
  for (int i = 0; i < 3; ++i)
    if (dup2(from[i], i) < 0) return false;
  return true;
}

// Puts the connection on its number. The error pipe may have that number, so it is moved away
// first.
bool set_connection(int connection, int* error_fd) {
  if (connection < 0) return true;
  const int from = fcntl(connection, F_DUPFD_CLOEXEC, kConnectionFd + 1);
  const int error = fcntl(*error_fd, F_DUPFD_CLOEXEC, kConnectionFd + 1);
  if (from < 0 || error < 0) return false;
  *error_fd = error;
  return dup2(from, kConnectionFd) >= 0;
}

bool set_ids(const MappedBlock& block) {
  if (block.head().set_ids == 0) return true;
  return setgroups(block.head().gids, block.gids()) == 0 &&
         setresgid(block.head().gid, block.head().gid, block.head().gid) == 0 &&
         setresuid(block.head().uid, block.head().uid, block.head().uid) == 0;
}

void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Looks up a bare name as execvp does, but never falls back to /bin/sh: the kernel's error counts.
void exec_program(const MappedBlock& block) {
  const char* program = block.program();
  if (std::strchr(program, '/') != nullptr) {
    execve(program, block.argv(), block.envp());
    return;
  }
  bool found_but_denied = false;
  errno = ENOENT;
  std::string candidate;
  for (const char* at = block.path(); *program != '\0';) {
    const char* end = std::strchr(at, ':');
    candidate.assign(at, end == nullptr ? std::strlen(at) : std::size_t(end - at));
    if (candidate.empty()) candidate.push_back('.');
    candidate.append("/").append(program);
    execve(candidate.c_str(), block.argv(), block.envp());
    if (errno == EACCES)
      found_but_denied = true;
    else if (errno != ENOENT && errno != ENOTDIR)
      return;
    if (end == nullptr) break;
    at = end + 1;
  }
  errno = found_but_denied ? EACCES : ENOENT;
}

}  // namespace

void fail(int error_fd, SpawnStage stage) {
  const StartFailure failure{static_cast<std::int32_t>(stage), errno};
  [[maybe_unused]] const ssize_t written = write(error_fd, &failure, sizeof failure);
  _exit(127);
}

void become_rank(const MappedBlock& block, const int stdio[3], int connection, int error_fd,
                 const Place& place) {
  setsid();
  if (!join_cgroups(block)) fail(error_fd, SpawnStage::cgroup);
  if (!set_limits(block)) fail(error_fd, SpawnStage::rlimit);
  if (!set_affinity(block)) fail(error_fd, SpawnStage::affinity);
  if (!set_stdio(stdio) || !set_connection(connection, &error_fd))
    fail(error_fd, SpawnStage::stdio);
  if (place.terminal && ioctl(0, TIOCSCTTY, 0) != 0) fail(error_fd, SpawnStage::stdio);
  if (!set_ids(block)) fail(error_fd, SpawnStage::ids);
  // The signal is set after the ids, because changing them clears it. The parent may have died
  // before it was set.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(error_fd, SpawnStage::fork);
  if (getppid() != place.parent) _exit(127);
  // Fails on a kernel without Yama, which needs no permission for this.
  prctl(PR_SET_PTRACER, place.spawn, 0, 0, 0);
  umask(022);
  if (chdir(block.cwd()) != 0) fail(error_fd, SpawnStage::chdir);
  reset_signals();
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  if (connection >= 0) fcntl(kConnectionFd, F_SETFD, 0);
  exec_program(block);
  fail(error_fd, SpawnStage::exec);
}

}  // namespace lockstep::spawn
