// lockstep-spawn: the only program that forks ranks. Its runner starts it with the socket as fd 3,
// as PID 1 of a pid namespace if there can be one. A container engine starts `lockstep-spawn
// --connect PATH` as the first process of a container. `lockstep-spawn --probe`: see probe.h.
// `--nothing` does nothing: an image is prepared by a job with a command that every image can run.
// See protocol.h.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "runner/spawn/probe.h"
#include "runner/spawn/protocol.h"
#include "runner/spawn/spawner.h"

namespace lockstep::spawn {
namespace {

constexpr int kOurFailure = 125;

// Connects to the runner, which listens before the container is started. Afterwards the socket is
// fd 3; false: errno holds the reason.
bool connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (std::strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  while (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    if (errno != EINTR) return false;
  return fd == kSocketFd || dup3(fd, kSocketFd, O_CLOEXEC) >= 0;
}

int serve(bool is_in_container) {
  if (fcntl(kSocketFd, F_SETFD, FD_CLOEXEC) != 0) {
    std::fprintf(
        stderr,
        "lockstep-spawn: fd 3 is not a socket: only lockstep-runner can start this program\n");
    return kOurFailure;
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2})
    signal(number, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // The kernel ends a pid namespace with its PID 1. Otherwise this process must outlive the runner
  // to sweep, and notices the runner's end by the closed socket. In a container the parent is the
  // engine's.
  if (getpid() == 1 && !is_in_container) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return Spawner(kSocketFd).run();
}

}  // namespace
}  // namespace lockstep::spawn

int main(int argc, char** argv) {
  using namespace lockstep::spawn;
  const char* verb = argc > 1 ? argv[1] : "";
  if (argc == 2 && std::strcmp(verb, "--version") == 0) {
    std::puts("lockstep-spawn " LOCKSTEP_VERSION);
    return 0;
  }
  if (argc == 2 && std::strcmp(verb, "--probe") == 0) {
    std::fputs(probe().c_str(), stdout);
    return 0;
  }
  if (argc == 2 && std::strcmp(verb, "--nothing") == 0) return 0;
  if (argc == 3 && std::strcmp(verb, "--connect") == 0) {
    if (connect_to(argv[2])) return serve(true);
    std::fprintf(stderr, "lockstep-spawn: cannot reach its runner at %s: %s\n", argv[2],
                 std::strerror(errno));
    return kOurFailure;
  }
  return serve(false);
}
