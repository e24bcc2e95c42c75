// lockstep-pmix: the PMIx server of one attempt's ranks on a node. Its runner starts it as
// `lockstep-pmix --serve UID GID PARENT`, with its socket as fd 3. It has the rights of the ranks
// and no secret, because libpmix parses what ranks send. See protocol.h and accept_guard.h.

#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "runner/pmix/server.h"

namespace lockstep::pmix {
namespace {

constexpr int kOurFailure = 125;

template <typename T>
std::optional<T> number_in(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Gives up root before any byte of a rank is read. RLIMIT_NPROC is lifted first: the user's other
// processes may have used it up, and this process is part of the runner.
bool become(uid_t uid, gid_t gid) {
  if (::geteuid() == 0) {
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_NPROC, &all);
    if (::setgroups(1, &gid) != 0 || ::setresgid(gid, gid, gid) != 0 ||
        ::setresuid(uid, uid, uid) != 0)
      return false;
  }
  return ::getuid() == uid && ::geteuid() == uid;
}

// Ranks have the same account: they can end this process, but not read its memory. It ends with its
// runner, which also closes the socket.
bool shut_off(pid_t parent) {
  if (::prctl(PR_SET_DUMPABLE, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent)
    return false;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  ::umask(077);
  return ::chdir("/") == 0;
}

int run(const char* const* words) {
  const auto uid = number_in<uid_t>(words[0]);
  const auto gid = number_in<gid_t>(words[1]);
  const auto parent = number_in<pid_t>(words[2]);
  struct stat socket {};
  if (!uid || !gid || !parent || ::fstat(kSocketFd, &socket) != 0 || !S_ISSOCK(socket.st_mode)) {
    std::fputs("lockstep-pmix: only lockstep-runner can start this program\n", stderr);
    return kOurFailure;
  }
  if (!become(*uid, *gid) || !shut_off(*parent)) {
    std::fprintf(stderr, "lockstep-pmix: cannot run as uid %u: %s\n", *uid, std::strerror(errno));
    return kOurFailure;
  }
  Channel runner(kSocketFd);
  Server(runner).serve();
}

}  // namespace
}  // namespace lockstep::pmix

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (argc == 5 && verb == "--serve") return lockstep::pmix::run(argv + 2);
  if (argc == 2 && verb == "--version") {
    std::puts("lockstep-pmix " LOCKSTEP_VERSION);
    return 0;
  }
  std::fputs("usage: lockstep-pmix --version (it is started by lockstep-runner)\n", stderr);
  return 125;
}
