// lockstep-spawn: the only program that forks ranks. Started by its runner with the socket as fd 3;
// as PID 1 of a pid namespace where one can be had. See protocol.h.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "runner/spawn/protocol.h"
#include "runner/spawn/spawner.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::puts("lockstep-spawn " LOCKSTEP_VERSION);
    return 0;
  }
  if (fcntl(lockstep::spawn::kSocketFd, F_SETFD, FD_CLOEXEC) != 0) {
    std::fprintf(stderr,
                 "lockstep-spawn: fd 3 is not a socket: it is started by lockstep-runner\n");
    return 125;
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2})
    signal(number, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // The kernel ends a pid namespace with its PID 1. Elsewhere we must outlive the runner for long
  // enough to sweep: there the closed socket tells.
  if (getpid() == 1) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return lockstep::spawn::Spawner(lockstep::spawn::kSocketFd).run();
}
