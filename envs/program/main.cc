// lockstep-env: reads one order on standard input, solves or builds one environment, and reports
// events on descriptor 3. The agent starts it as the user whose environment it is, and it ends with
// the agent. Exit code 0: the last event is the result; 125: it could not report.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "common/io/file_system.h"
#include "envs/order.h"
#include "envs/program/carry_out.h"

namespace {

constexpr int kOurFailure = 125;

// Reads one line, until the writer closes its end.
std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::read(fd, buffer, sizeof buffer)) > 0 &&
         text.size() < 2 * lockstep::envs::kMaxLockBytes)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::printf("lockstep-env %s\n", LOCKSTEP_VERSION);
    return 0;
  }
  if (argc != 1 || ::fcntl(lockstep::envs::kEventsFd, F_GETFD) < 0) {
    std::fprintf(stderr,
                 "only lockstep-agent can start lockstep-env: it passes the order to carry out\n");
    return 2;
  }
  ::fcntl(lockstep::envs::kEventsFd, F_SETFD, FD_CLOEXEC);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const auto order = lockstep::envs::order_from_json(read_all(0));
  if (!order) {
    std::fprintf(stderr, "lockstep-env: %s\n", order.error().message.c_str());
    return kOurFailure;
  }
  lockstep::envs::carry_out(*order, lockstep::envs::kEventsFd);
  return 0;
}
