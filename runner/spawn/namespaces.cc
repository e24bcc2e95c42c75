#include "runner/spawn/namespaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "common/io/file_system.h"
#include "runner/spawn/protocol.h"

namespace lockstep::spawn {
namespace {

Status write_map(const char* path, const std::string& text) {
  TRY_ASSIGN(const io::Fd fd, io::open_file(path, O_WRONLY | O_CLOEXEC));
  return io::write_all(fd.get(), text);
}

// Ids are mapped to themselves, so that files keep their owner and ranks their user name.
Status map_ids(uid_t uid, gid_t gid) {
  TRY(write_map("/proc/self/setgroups", "deny"));
  TRY(write_map("/proc/self/uid_map", fmt::format("{0} {0} 1\n", uid)));
  return write_map("/proc/self/gid_map", fmt::format("{0} {0} 1\n", gid));
}

Status set_up(const Namespaces& namespaces, uid_t uid, gid_t gid) {
  if (namespaces.user) TRY(map_ids(uid, gid));
  if (!namespaces.mount && !namespaces.pid) return {};
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return errno_error(errno, "making the mounts private");
  if (namespaces.prepare_mounts) TRY(namespaces.prepare_mounts());
  if (namespaces.pid &&
      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return errno_error(errno, "mounting /proc for a new pid namespace");
  return {};
}

Status become(const std::string& program, int socket) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return errno_error(errno, "/dev/null");
  if (dup2(null, 0) < 0 || dup2(null, 1) < 0) return errno_error(errno, "dup2");
  // The socket is moved up first, because fd 3 may be the socket itself or the status pipe.
  const int safe = fcntl(socket, F_DUPFD_CLOEXEC, 64);
  if (safe < 0 || dup2(safe, kSocketFd) < 0) return errno_error(errno, "dup2 of the spawn socket");
  close_range(kSocketFd + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  char* const argv[] = {const_cast<char*>("lockstep-spawn"), nullptr};
  char* const envp[] = {nullptr};
  execve(program.c_str(), argv, envp);
  return errno_error(errno, program);
}

struct Start {
  const std::string& program;
  const Namespaces& namespaces;
  int socket;
  int report;
  uid_t uid;
  gid_t gid;
};

int run_child(void* argument) {
  const Start& start = *static_cast<const Start*>(argument);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  Status status = set_up(start.namespaces, start.uid, start.gid);
  if (status) status = become(start.program, start.socket);
  const std::string& why = status.error().message;
  [[maybe_unused]] const ssize_t written = write(start.report, why.data(), why.size());
  _exit(125);
}

// Clones like vfork: the child runs in our memory while we wait until it executes another program
// or ends. A copy of our memory would cost more than everything else it does.
int clone_for(const Start& start, int flags) {
  constexpr std::size_t kStack = 256 << 10;
  const auto stack = std::make_unique_for_overwrite<char[]>(kStack);
  return clone(run_child, stack.get() + kStack, flags | CLONE_VM | CLONE_VFORK | SIGCHLD,
               const_cast<Start*>(&start));
}

}  // namespace

Result<int> start_in_namespaces(const std::string& program, const Namespaces& namespaces,
                                int socket) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) return errno_error(errno, "pipe for lockstep-spawn");
  const io::Fd reading(pipe_fds[0]);
  io::Fd writing(fcntl(pipe_fds[1], F_DUPFD_CLOEXEC, 64));  // its number must not be 3
  close(pipe_fds[1]);
  if (!writing) return errno_error(errno, "pipe for lockstep-spawn");
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  int flags = 0;
  if (namespaces.user) flags |= CLONE_NEWUSER;
  if (namespaces.pid) flags |= CLONE_NEWPID;
  if (namespaces.pid || namespaces.mount) flags |= CLONE_NEWNS;
  const int pid = clone_for({program, namespaces, socket, writing.get(), uid, gid}, flags);
  if (pid < 0) return errno_error(errno, "clone for lockstep-spawn");
  writing.reset();
  std::string why;
  char buffer[512];
  ssize_t length = 0;
  while ((length = read(reading.get(), buffer, sizeof buffer)) != 0) {
    if (length > 0)
      why.append(buffer, static_cast<std::size_t>(length));
    else if (errno != EINTR)
      break;
  }
  if (why.empty()) return pid;
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return make_error(ErrorCode::io, "lockstep-spawn did not start: " + why);
}

}  // namespace lockstep::spawn
