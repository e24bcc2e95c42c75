#include "runner/pmix/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

#include "common/io/process.h"
#include "runner/pmix/protocol.h"

namespace lockstep::pmix {
namespace {

// Drops what libpmix and its dynamic linker do not need: the runner's environment may hold secrets
// of the agent's operator. A runner may itself run under a PMIx server (a Slurm step), whose
// variables would make the library act as its client.
bool passes(std::string_view name) {
  constexpr std::string_view kPassed[] = {"LD_",   "LC_",   "LANG",   "TZ",   "ASAN_",
                                          "LSAN_", "TSAN_", "UBSAN_", "PATH", "LOCKSTEP_TEST_"};
  for (const std::string_view lead : kPassed)
    if (name.starts_with(lead)) return true;
  return false;
}

std::vector<std::string> environment() {
  std::vector<std::string> entries = {
      // HOME does not exist: the user's settings, and the plug-ins that they name, are for the
      // ranks only.
      "HOME=/nonexistent",
      // The default store in shared memory prints lock errors if the ranks have another uid.
      "PMIX_MCA_gds=hash",
      // The library examines the machine through hwloc. Its plugins would load OpenCL, CUDA and X11
      // into this process and connect to X displays; their results are not used.
      "HWLOC_PLUGINS_PATH=/nonexistent",
  };
  // A bundle contains the library's plug-ins and messages, at another path than the one they were
  // built for.
  if (const auto bundle = io::bundle_directory())
    for (const auto& [name, folder] : {std::pair("PMIX_PREFIX", ""),
                                       {"PMIX_LIBDIR", "/lib"},
                                       {"PMIX_DATADIR", "/share"},
                                       {"PMIX_SYSCONFDIR", "/etc"}})
      entries.push_back(fmt::format("{}={}{}", name, *bundle, folder));
  for (const auto& [name, value] : io::own_environment())
    if (passes(name)) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

class Setup {
 public:
  Setup(int socket, int errors) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files_, 0, 1);
    posix_spawn_file_actions_adddup2(&files_, errors, 2);
    posix_spawn_file_actions_adddup2(&files_, socket, kSocketFd);
    posix_spawn_file_actions_addclosefrom_np(&files_, kSocketFd + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~Setup() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;
  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

// Moves a descriptor above the numbers that the child's descriptors get.
io::Fd moved_up(io::Fd fd) { return io::Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 16)); }

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was killed by signal {}", WTERMSIG(status));
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

Result<Process> Process::start(const std::string& path, std::uint32_t uid, std::uint32_t gid,
                               io::Fd socket) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno_error(errno, "pipe for lockstep-pmix");
  Process process;
  process.errors_.reset(ends[0]);
  const io::Fd errors = moved_up(io::Fd(ends[1])), theirs = moved_up(std::move(socket));
  if (!errors || !theirs || ::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
    return errno_error(errno, "descriptors for lockstep-pmix");
  const Setup setup(theirs.get(), errors.get());
  std::vector<std::string> words = {"lockstep-pmix", "--serve", std::to_string(uid),
                                    std::to_string(gid), std::to_string(::getpid())};
  std::vector<std::string> variables = environment();
  const int error = ::posix_spawn(&process.pid_, path.c_str(), setup.files(), setup.attributes(),
                                  pointers(words).data(), pointers(variables).data());
  if (error != 0) {
    process.pid_ = -1;
    return errno_error(error, "start " + path);
  }
  process.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0)));
  if (!process.pidfd_) return errno_error(errno, "pidfd_open of lockstep-pmix");
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      errors_(std::move(other.errors_)) {}

// Ends the process by its pidfd, since a sweep after the ranks may have reaped the pid already.
std::string Process::end() {
  if (pid_ <= 0) return "has ended";
  const int pid = std::exchange(pid_, -1);
  if (pidfd_) {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
    pollfd polled{pidfd_.get(), POLLIN, 0};
    ::poll(&polled, 1, static_cast<int>(kEndTimeout / milliseconds(1)));
  }
  int status = 0;
  return ::waitpid(pid, &status, WNOHANG) == pid ? how_it_ended(status) : "has ended";
}

}  // namespace lockstep::pmix
